"""Each lab's README and hints fit a terminal, and name only files and programs that exist."""

import re
import unicodedata
import unittest
from functools import cached_property
from pathlib import Path

from lab_tool.catalogue import HUNTS, Catalogue
from lab_tool.places import work_name
from lab_tool.report import WHAT

ROOT = Path(__file__).resolve().parents[2]
COLUMNS = 80
LINK = re.compile(r"\]\(([^)\s]+)\)")
IN_REPOSITORY = re.compile(r"(?<![\w/.-])((?:libmini|labs|docs|tests|data)/[\w./-]*\w)")
PROGRAM = re.compile(r"build/release/bin/([\w-]+)")
TARGETS = re.compile(r"--target ((?:[\w-]+ ?)+)")
ANOTHER_LAB = re.compile(r"\b[Ll]abs? (\d\d)\b(?: and (\d\d)\b)?")
COPY = re.compile(r"(?<![\w/.-])work/([\w./-]*\.(?:cpp|hpp|cuh?))")
READING = re.compile(r"^## (?:The code to read|What production adds)\n(.*?)(?=^## |\Z)", re.M | re.S)
SOURCE = re.compile(r"`([\w./-]*\.(?:cpp|hpp|cuh?))`")
HEADING = re.compile(r"^## (.*)$", re.M)
HUNT = "Bug hunt"
FIRST = ["What goes wrong", "The idea", "By hand", "What you write", "Run it", HUNT, "Questions"]
SECOND = ["Measure", "Pitfalls", "What production adds"]
MOST_WORDS, MOST_TO_TOP = 2300, 120
ENTRY = re.compile(r"^\| ((?!term )[^|]+) \| ([^|]*) \| ([^|]+) \|$", re.M)  # of the glossary
TO_GLOSSARY = re.compile(r"\[([^]]+)\]\([./]*/docs/pages/glossary\.md\)")
CHINESE = re.compile(r"[\u4e00-\u9fff]")
DECLARED = re.compile(r"(?:mini_program|add_executable)\((\w+)(?: (MINE))?")


def prose(text):
    """Yields (number, line) for each line, except code, tables and lines that hold only a link."""
    fenced = False
    for number, line in enumerate(text.split("\n"), 1):
        if line.startswith("```"):
            fenced = not fenced
        elif not fenced and not line.startswith(("    ", "|", "<!--")) and not only_a_link(line):
            yield number, line


def columns(line):
    """Returns the width of a line in a terminal, where a Chinese character has two columns."""
    return len(line) + sum(unicodedata.east_asian_width(letter) in "WF" for letter in line)


def only_a_link(line):
    return re.fullmatch(r"[\s*-]*(\S*\]\(\S+\)|<?https?://\S+)[.,;]?", line) is not None


def answers_named(page, held):
    """Returns the files of `held`, which have regions, that the reading list names in libmini.

    Such a file has the solution; a reader is sent to the copy in work/. "`.cpp`" alone is a name, too:
    it means the source beside the header that was named before."""
    listed = READING.search(page)
    return [name for name in SOURCE.findall(listed[1])
            if not name.startswith("work/")
            and (name.startswith(".") or any(f"/{path}".endswith(f"/{name}") for path in held))]


def faults_of(first, second, has_hunt):
    """Returns what is wrong with the form of a lab's two pages."""
    wanted = [heading for heading in FIRST if has_hunt or heading != HUNT]
    top = first.split("\n## ")[0]
    checks = {
        f"the headings are not {wanted}": HEADING.findall(first) == wanted,
        f"the second page's headings are not {SECOND}": HEADING.findall(second) == SECOND,
        f"more than {MOST_WORDS} words": len(first.split()) <= MOST_WORDS,
        f"more than {MOST_TO_TOP} words to the first heading": len(top.split()) <= MOST_TO_TOP,
        "the last line has no link to the second page":
            "](going_further.md)" in first.rstrip().split("\n")[-1],
        "the second page's title is not the first one's and \": going further\"":
            second.startswith(first.split("\n")[0] + ": going further\n"),
    }
    return [fault for fault, is_right in checks.items() if not is_right]


class Readmes(unittest.TestCase):
    @cached_property
    def pages(self):
        """{path in the repository: text} of the labs' READMEs and hints."""
        paths = [path for pattern in ("labs/*.md", "labs/*/*.md", "labs/*/hints/*.md", "docs/zh/lab*.md")
                 for path in ROOT.glob(pattern)]
        return {str(path.relative_to(ROOT)): path.read_text(encoding="utf-8")
                for path in sorted(paths)}

    @cached_property
    def programs(self):
        """The names of all programs, from the build files."""
        names = set()
        for top in ("labs", "libmini", "tests"):
            for path in (ROOT / top).rglob("CMakeLists.txt"):
                for name, mine in DECLARED.findall(path.read_text(encoding="utf-8")):
                    names |= {name, f"{name}_mine"} if mine else {name}
        return names

    def test_prose_has_at_most_80_columns(self):
        self.assertGreater(len(self.pages), 20)
        wide = [f"{path}:{number} has {columns(line)} columns" for path, text in self.pages.items()
                for number, line in prose(text) if columns(line) > COLUMNS]
        self.assertEqual(wide, [])

    def test_links_and_pictures_point_to_existing_files(self):
        for path, text in self.pages.items():
            for target in LINK.findall(text):
                if not target.startswith(("http://", "https://", "#")):
                    with self.subTest(f"{path}: {target}"):
                        self.assertTrue((ROOT / path).parent.joinpath(target).exists())

    def test_named_files_exist(self):
        for path, text in self.pages.items():
            for name in IN_REPOSITORY.findall(text):
                if name.startswith("data/mnist"):
                    continue  # created by data/fetch_mnist
                with self.subTest(f"{path}: {name}"):
                    self.assertTrue((ROOT / name).exists())

    def test_named_programs_can_be_built(self):
        for path, text in self.pages.items():
            named = set(PROGRAM.findall(text))
            for targets in TARGETS.findall(text):
                named |= set(targets.split())
            for name in sorted(named):
                with self.subTest(f"{path}: {name}"):
                    self.assertIn(name, self.programs)

    def test_a_readme_explains_how_to_build_each_program_that_it_runs(self):
        for path, text in self.pages.items():
            built = {"minirun", "train_mnist"} if "labs/lab demo" in text else set()
            for line in text.split("\n"):
                for targets in TARGETS.findall(line):
                    built |= set(targets.split())
                for name in PROGRAM.findall(line):
                    with self.subTest(f"{path}: {line.strip()}"):
                        self.assertIn(name, built)

    def test_named_labs_exist(self):
        there = {path.name[:2] for path in (ROOT / "labs").iterdir() if path.is_dir()}
        for path, text in self.pages.items():
            for numbers in ANOTHER_LAB.findall(text):
                for number in filter(None, numbers):
                    with self.subTest(f"{path}: lab {number}"):
                        self.assertIn(number, there)

    def test_the_files_in_a_task_table_hold_the_tasks_regions_and_are_the_learners(self):
        catalogue = Catalogue(ROOT)
        for lab in catalogue.labs:
            part = lab.pages[0].read_text(encoding="utf-8").split("## What you write")[1].split("\n## ")[0]
            self.assertIn(f"`work/{lab.folder.name}/", part)
            for task in lab.tasks:
                named = re.findall(r"`([^`]+)`", task.file)
                held = catalogue.files_of(task=task.name)
                with self.subTest(task.name):
                    self.assertTrue(named)
                    self.assertLessEqual(set(named), {Path(path).name for path in held})

    def test_a_reading_list_names_no_file_with_the_solution_of_its_own_lab(self):
        catalogue = Catalogue(ROOT)
        for lab in catalogue.labs:
            held = {region.path for region in catalogue.regions_of(lab=lab.number)}
            with self.subTest(lab.number):
                self.assertEqual(answers_named(lab.pages[-1].read_text(encoding="utf-8"), held), [])

    def test_a_copy_that_a_page_names_is_one_that_its_lab_starts(self):
        catalogue = Catalogue(ROOT)
        for lab in catalogue.labs:
            text = "".join(path.read_text(encoding="utf-8") for path in lab.pages)
            held = {work_name(ROOT, lab.number, path)
                    for path in [*catalogue.files_of(lab.number), lab.hunt]}
            with self.subTest(lab.number):
                self.assertEqual(sorted(set(COPY.findall(text)) - held), [])

    def test_code_in_a_hint_is_indented_from_its_first_line_on(self):
        for lab in Catalogue(ROOT).labs:
            for task in lab.tasks:
                for number, text in enumerate(lab.hints(task.name), 1):
                    with self.subTest(f"{task.name}, hint {number}"):
                        self.assertNotRegex(text, r"(?m)^(?![ -]|\d\.).*\S.*\n    ")

    def test_each_lab_links_to_the_glossary_and_only_for_its_terms(self):
        entries = ENTRY.findall((ROOT / "docs/pages/glossary.md").read_text(encoding="utf-8"))
        terms = {term for entry in entries for term in entry[0].lower().split(", ")} | {"glossary"}
        self.assertEqual(len(terms), len({term.rstrip("s") for term in terms}))
        for path in ROOT.glob("labs/*/README.md"):
            pages = [page.read_text(encoding="utf-8") for page in sorted(path.parent.glob("*.md"))]
            named = {" ".join(text.strip("*").lower().split())
                     for page in pages for text in TO_GLOSSARY.findall(page)}
            with self.subTest(path.parent.name):
                self.assertTrue(all("glossary.md" in page for page in pages))
                self.assertEqual({word for word in named if not {word, word[:-1]} & terms}, set())

    def test_each_entry_of_the_glossary_has_a_chinese_term_and_one_sentence(self):
        text = (ROOT / "docs/pages/glossary.md").read_text(encoding="utf-8")
        entries = ENTRY.findall(text)
        self.assertEqual(len(entries), len(re.findall(r"^\| (?!term )", text, re.M)))
        for term, chinese, meaning in entries:
            with self.subTest(term):
                self.assertRegex(chinese, CHINESE)
                self.assertTrue(meaning.endswith(".") and ". " not in meaning, meaning)

    def test_task_titles_fit_on_one_line_of_check(self):
        for lab in Catalogue(ROOT).labs:
            for task in lab.tasks:
                self.assertLessEqual(len(task.what), WHAT, task.name)


class TwoPages(unittest.TestCase):
    """A lab with going_further.md has two pages of one form."""

    def test_the_pages_have_the_form(self):
        for second in sorted(ROOT.glob("labs/*/going_further.md")):
            first = second.with_name("README.md").read_text(encoding="utf-8")
            has_hunt = any((second.parent / name).exists() for name in HUNTS)
            with self.subTest(second.parent.name):
                self.assertEqual(faults_of(first, second.read_text(encoding="utf-8"), has_hunt), [])

    def test_each_fault_is_found(self):
        def page(*headings, title="# Lab 07 · A"):
            return "\n".join([title, "words", *(f"## {heading}\nx" for heading in headings),
                              "[Going further](going_further.md)"])

        first, second = page(*FIRST), page(*SECOND, title="# Lab 07 · A: going further")
        self.assertEqual(faults_of(first, second, True), [])
        for changed, hunt in ((first + " end\nend", True), (first.replace("Run it", "Run"), True),
                              (page(FIRST[0], FIRST[2], FIRST[1], *FIRST[3:]), True), (first, False), (page(*FIRST, "More"), True),
                              (first.replace("words", "word " * MOST_TO_TOP), True),
                              (first.replace("\nx", "\n" + "x " * MOST_WORDS, 1), True)):
            self.assertEqual(len(faults_of(changed, second, hunt)), 1, changed[:200])
        self.assertEqual(len(faults_of(first, page(*SECOND), True)), 1)  # the title
        self.assertEqual(len(faults_of(first, second.replace("Pitfalls", "Traps"), True)), 1)


class Answers(unittest.TestCase):
    def test_a_name_without_its_folder_and_a_bare_suffix_are_found_and_a_copy_is_not(self):
        page = "## The code to read\n`x.cpp`, `a/x.cpp`, `a/x.hpp` and `.cpp`, `work/a/x.cpp`\n## Tasks"
        self.assertEqual(answers_named(page, {"a/x.cpp"}), ["x.cpp", "a/x.cpp", ".cpp"])


class Prose(unittest.TestCase):
    def test_code_tables_and_links_are_left_out(self):
        text = "a\n    code\n| table |\n- [a](b.md)\n```\nfenced\n```\n  https://a.b/c\nz [a](b) c"
        self.assertEqual([number for number, _ in prose(text)], [1, 9])
