"""Exported courses and their graders, on a small repository without a build. The whole way, with
builds, is in course_end_to_end.py."""

import json
import re
import shutil
import subprocess
import unittest
from pathlib import Path
from unittest import mock

import leaks
from fake_tree import PARTITION, FakeTree
from author_tool import export_objects
from lab_tool.catalogue import Catalogue
from author_tool.export import Export, answer_book
from lab_tool.places import ROOT
from lab_tool.regions import regions_in
from lab_tool.screen import LabError

SAMPLER = """\
void deal() {
    // [lab09.1] Interleave.
    every_second_sample_of_all(2, world_size);
    // [lab09.1]
}
"""
OWN = """\
void cut() {
    // [lab07.1] Cut.
    take_a_part_of_the_samples(rank, world_size);
    // [lab07.1]
}
"""
PRESETS = {"version": 6, "configurePresets": [
    {"name": "release", "cacheVariables": {"CMAKE_CXX_FLAGS": "-march=native"}}, {"name": "tsan"},
    {"name": "editor", "inherits": "release"}],
    "buildPresets": [{"name": "release"}, {"name": "tsan"}]}

PAGE = """
## Warm-up, by hand

<details><summary>Answer</summary>

The third is the warm-up's.

</details>

## Bug hunt

<details><summary>Where to look</summary>

Between the lines.

</details>

<details>
<summary>The answer</summary>

The index is one too large, as each sample is counted twice. The right line:

    return index[i - last_of_the_others];

</details>

## Questions

1. Which rank is last?

   <details><summary>Answer</summary>

   The rank that was first, because the list is
   read from behind.

   </details>

2. And which is first?
"""
OPEN = """\
# The labs

    labs/lab test-yours 7    your own test
    labs/lab hint 7.2        the next hint

Code is in `work/`, which git ignores, with a folder for each lab.

## Your own test

It runs on mutants.

## Which labs, in which order

All 22.

Each lab has [two](09-sampler/README.md) ![pages](../docs/figures/a.png), [as](07-partition/README.md).
"""
PATCH = """\
@@ other-index: The index is one too large.
-    return index[i];
+    return index[i - last_of_the_others];
"""


class Course(FakeTree):
    def setUp(self):
        super().setUp()
        self.course = self.root / "cs101"
        self.write("libmini/part.cpp", OWN)
        self.write("libmini/sampler.cpp", SAMPLER)
        self.write_lab("07-partition", "Partition", ["07.1"])
        self.write("CMakeLists.txt", "add_subdirectory(labs)\nadd_subdirectory(docs)\n")
        self.write("CMakePresets.json", json.dumps(PRESETS))
        self.write("labs/README.md", OPEN)
        self.write("tests/CMakeLists.txt", "add_library(main)\n\nadd_custom_target(unit_tests)\n")
        for folder in ("07-partition", "09-sampler"):
            self.write(f"labs/{folder}/CMakeLists.txt", "")
        self.write("labs/lab", "#!/bin/sh\n")
        (self.root / "labs/lab").chmod(0o755)
        shutil.copytree(ROOT / "labs/grader", self.root / "labs/grader",
                        ignore=shutil.ignore_patterns("__pycache__"))
        self.write("docs/pages/instructors.md", "Exam questions.\n")
        self.write("tests/hunts/lab07.diff", "the repair\n")
        self.patch(("author_tool.export.tracked", self.tracked),
                   ("author_tool.export.Export.objects", lambda export: []),
                   ("author_tool.export_objects.compiler",
                    lambda folder: ("GNU", "12.2.0", "x86_64")))

    def tracked(self, root):
        return sorted(each.relative_to(root).as_posix() for each in Path(root).rglob("*")
                      if each.is_file() and self.course not in each.parents)

    def made(self, *labs, **options):
        catalogue = Catalogue(self.root)
        return Export(catalogue, [catalogue.lab(number) for number in labs], "CS 101", **options)

    def export(self, *labs, **options):
        return self.made(*labs, **options).write(self.course)

    def text(self, path):
        return (self.course / path).read_text()

    def test_a_course_has_its_labs_without_solutions(self):
        self.export("7")
        self.assertIn('MINI_TODO("lab07.1"', self.text("libmini/part.cpp"))
        self.assertIn("Lab 09 is not in this course", self.text("libmini/sampler.cpp"))
        self.assertEqual(self.text("CMakeLists.txt"), "add_subdirectory(labs)\ninclude(course/objects.cmake)\n")
        self.assertTrue((self.course / "labs/lab").stat().st_mode & 0o100)
        for path in ("labs/09-sampler/README.md", "tests/mutants/lab07.1.diff",
                     "tests/hunts/lab07.diff", "docs/pages/instructors.md"):
            self.assertFalse((self.course / path).exists(), path)
        self.assertEqual(self.text("labs/README.md"), """\
# The labs

    labs/lab hint 7.2        the next hint

Code is in `work/`, with a folder for each lab.

Each lab has two pages, [as](07-partition/README.md).
""")
        self.assertEqual(self.text("tests/CMakeLists.txt"), "add_library(main)\n")
        self.assertIn("| [07](labs/07-partition/README.md) | Partition |  | 5 |",
                      self.text("README.md"))
        hints = self.text("labs/07-partition/hints/07.1.md")
        self.assertIn("Look.", hints)
        self.assertNotIn("Do.", hints)

    def test_the_pages_have_no_answers(self):
        page = "labs/07-partition/README.md"
        self.write(page, (self.root / page).read_text() + PAGE)
        self.write("labs/00-the-idea/README.md", PAGE)  # in each course
        self.export("7")
        self.assertNotIn("The right line", self.text("labs/00-the-idea/README.md"))
        text = self.text(page)
        for kept in ("warm-up's.", "Between the lines.", "1. Which rank is last?\n\n2. And which"):
            self.assertIn(kept, text)
        self.write("labs/07-partition/quiz.json", '[{"ask": "{n}?", "draw": {"n": [4]}, "answer": "n", "why": "So."}]')
        book = answer_book([self.catalogue().lab("7")])
        for cut in ("The right line", "last_of_the_others", "read from behind"):
            self.assertNotIn(cut, text)
            self.assertIn(cut, book)
        for told in ("choices of a quiz question the first is right", "\n# Lab 07 Partition\n\n- 07.1 Do 07.1: 5 points\n",
                     "## Bug hunt\n\n**Where to look**", "1. Which rank is last?\n\n**Answer**\n\n   The rank that was",
                     "- Quiz: {n}?\n  - draw: `{'n': [4]}`\n  - answer: `n`\n  - why: `So.`\n"):
            self.assertIn(told, book)
        self.assertNotIn("warm-up's.", book)

    def test_a_readable_answer_is_found(self):
        page = "labs/07-partition/README.md"
        self.write(page, (self.root / page).read_text() + PAGE)
        self.write("labs/07-partition/bug_hunt.cpp", "    return index[i];\n")
        self.write("tests/hunts/lab07.diff", PATCH)
        self.assertEqual(leaks.leaks_of(self.made("7")), [])
        for leak in ("The rank that was first,\nbecause the list is read from behind.",
                     "Write `return  index[i - last_of_the_others];`"):
            self.write("labs/07-partition/hints/07.1.md", f"## 1\n\n{leak}\n")
            self.assertIn("hints/07.1.md has the answer of", leaks.leaks_of(self.made("7"))[0])

    def test_the_points_are_those_of_the_labs_page(self):
        self.write("labs/07-partition/README.md", (self.root / "labs/07-partition/README.md")
                   .read_text().replace("done | 5 |", "done | 20 |"))
        self.export("7")
        self.assertEqual(Catalogue(self.course).lab("7").tasks[0].points, 20)
        self.assertIn("| Partition |  | 20 |", self.text("README.md"))

    def test_the_preset_release_is_kept_with_the_flags_of_the_object_files(self):
        self.export("7")
        presets = json.loads(self.text("CMakePresets.json"))
        self.assertEqual(presets["configurePresets"][0]["cacheVariables"],
                         {"CMAKE_CXX_FLAGS": export_objects.USUAL_FLAGS, "MINI_CUDA": "SIM"})
        self.assertEqual([each["name"] for each in presets["configurePresets"]],
                         ["release", "editor"])
        self.assertEqual([each["name"] for each in presets["buildPresets"]], ["release"])

    def test_the_labs_keep_the_instructors_order_after_lab_00(self):
        self.write("labs/00-the-idea/README.md", "Time: 4 hours, with the set-up.\n")
        self.write("labs/07-partition/bug_hunt.cpp", "int bug;\n")
        self.export("9", "7")
        self.assertRegex(self.text("README.md"), r"(?s)start 9 .*\| The whole idea \| 4 hours \| 0 \|\n"
                         r".*\| Sampler \|  \| 5 \|\n.*\| Partition \|  \| 15 \|\n")
        self.assertEqual([lab.number for lab in Catalogue(self.course).labs], ["09", "07"])

    def test_another_processor_is_told_what_to_do(self):
        with mock.patch("author_tool.export_objects.system", lambda: "debian:12"):
            text = " ".join(export_objects.objects_cmake([], "GNU", "12.2.0", "x86_64").split())
        self.assertIn("docker run --platform linux/amd64 debian:12", text)
        self.assertIn('"^GNU 12[.]"', text)

    def test_an_update_keeps_work_and_deletes_old_files(self):
        self.write("libmini/old.cpp", "int old;\n")
        self.export("7")
        (self.course / "work").mkdir()
        (self.course / "work/mine.cpp").write_text("mine")
        (self.root / "libmini/old.cpp").unlink()
        self.write("libmini/new.cpp", "int one;\n")
        self.export("7", "9")
        self.assertEqual(self.text("work/mine.cpp"), "mine")
        self.assertFalse((self.course / "libmini/old.cpp").exists())
        self.assertTrue((self.course / "libmini/new.cpp").exists())
        self.assertIn('MINI_TODO("lab09.1"', self.text("libmini/sampler.cpp"))

    def test_a_folder_with_other_files_is_refused(self):
        self.write("cs101/README.md", "my course\n")
        with self.assertRaisesRegex(LabError, "is no exported course"):
            self.export("7")
        self.assertEqual(self.text("README.md"), "my course\n")

    def test_a_readable_solution_is_found(self):
        for path in ("labs/07-partition/hints/07.1.md", "labs/07-partition/hints/extra.md"):
            self.write(path, "## 1\n\n    take_a_part_of_the_samples(rank,  world_size);\n")
            self.assertIn(f"{path} has code of task 07.1", leaks.leaks_of(self.made("7"))[0])
            (self.root / path).unlink()

    def test_the_graders_scripts_are_in_the_course(self):
        self.export("7", "9")
        for name in ("setup.sh", "run_autograder"):
            path = self.course / "labs/grader" / name
            self.assertEqual(path.stat().st_mode & 0o777, 0o755)
            self.assertEqual(subprocess.run(["sh", "-n", path]).returncode, 0)
        self.assertIn('labs/lab grade "$labs" --format gradescope', self.text("labs/grader/run_autograder"))

    def test_the_workflow_grades_in_the_system_of_the_object_files(self):
        with mock.patch("author_tool.export_objects.system", lambda: "debian:13"):
            self.export("7")
        text = self.text("labs/grader/grade.yml")
        self.assertIn("container: debian:13\n", text)
        self.assertIn('labs/lab grade "${GRADED_LABS-}" --format junit', text)
        try:
            import yaml
        except ImportError:
            return
        steps = yaml.safe_load(text)["jobs"]["grade"]["steps"]
        self.assertEqual([sorted(step)[0] for step in steps], ["uses", "name", "name", "if"])

    def test_a_course_shows_no_solution_and_has_no_verbs_for_authors(self):
        self.export("7")
        self.patch(("lab_tool.workspace.Catalogue", lambda: Catalogue(self.course)))
        self.assertIn("this course has no solutions", self.call("diff", "7.1", code=1))
        self.patch(("lab_tool.verbs.quiz.Catalogue", lambda: Catalogue(self.course)))
        self.assertIn("a course prints no key", self.call("quiz", "7", "--seed", "4", "--answers", code=1))


class WholeExport(unittest.TestCase):
    """An export of all labs of the repository."""

    def test_it_has_no_answer_no_repair_and_no_solution(self):
        catalogue = Catalogue()
        with mock.patch("author_tool.export_objects.compiler", lambda folder: ("GNU", "12", "x86_64")):
            export = Export(catalogue, catalogue.labs, "all")
            texts = export.texts()
            self.assertEqual(leaks.leaks_of(export, texts), [])
        self.assertEqual(texts["CLAUDE.md"], "@AGENTS.md\n")
        self.assertRegex(texts["AGENTS.md"], r"(?s)labs/lab hint.*never write a core")
        self.assertNotIn("libmini itself", texts["AGENTS.md"])
        verbs = {path.split("/")[-1] for path in texts if "/verbs/" in path}
        self.assertFalse(verbs & {"dev.py", "test.py", "test_yours.py"})
        answers = leaks.secret_answers(export)
        self.assertGreater(len(answers), 6 * len(catalogue.labs))
        for region in catalogue.regions:
            self.assertNotIn("\n".join(region.body), texts[region.path], region.place)
        for path, text in texts.items():
            if re.fullmatch(r"labs/\d\d-[^/]*/\w+\.md", path):
                self.assertLessEqual(text.count("<details>"), 2, path)
            if path.startswith("labs/"):
                for named in re.findall(r'(?m)(?:^#include "(?=tests|labs|libmini)|(?=docs/pages/\w+\.md(?! of)))'
                                        r"([\w./-]+)\b", text):
                    self.assertTrue(named in texts, f"{path} names {named}")


class Leaks(unittest.TestCase):
    REGIONS = regions_in(PARTITION.replace("    take();\n", """\
    const auto part = samples.subspan(rank * count / world_size, count / world_size + 1);
"""), "part.cpp")

    def leaks(self, text, public=()):
        return leaks.leaks_in({"a.txt": text}, self.REGIONS, public)

    def test_code_is_found_whatever_its_spaces_and_line_breaks(self):
        line = "const auto part = samples.subspan(rank * count / world_size, count / world_size + 1);"
        self.assertEqual(self.leaks("nothing"), [])
        for text in (line, f"x\n  {line}  // a comment\n", line.replace(" ", "  "),
                     line.replace(" ", "\n"), line.replace(" ", "")
                     .replace("constautopart", "const auto part")):
            self.assertEqual(len(self.leaks(text)), 1, text)
            self.assertIn("a.txt has code of task 07.2", self.leaks(text)[0])

    def test_code_that_the_library_has_elsewhere_is_no_secret(self):
        line = "const auto part = samples.subspan(rank * count / world_size, count / world_size + 1);"
        self.assertEqual(self.leaks(line, [f"void f() {{\n{line}\n}}"]), [])


class Objects(unittest.TestCase):
    def command(self, output):
        return export_objects.OUTPUT.search(f"/usr/bin/c++ -O3 -o {output} -c a.cpp")

    def test_only_objects_of_libmini_itself_are_exported(self):
        self.assertEqual(self.command("libmini/data/CMakeFiles/mini_data.dir/Unity/u.cxx.o")[2],
                         "mini_data")
        for target in ("mini_check07_data", "mini_work_data", "mini_schemata_data", "lab07_tests",
                       "train_mnist_mine", "lab07_schemata", "lab07_check"):
            self.assertIsNone(self.command(f"labs/CMakeFiles/{target}.dir/a.cpp.o"), target)
