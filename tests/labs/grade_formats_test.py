"""Each format of grades has the fields that its readers document, and can be read back whatever
student code has printed."""

import csv
import json
import os
import shutil
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree as xml
from pathlib import Path
from unittest import mock

from fake_tree import CORE, FakeTree
from grader.review import findings
from lab_tool.checking import TaskResult
from lab_tool.grade_formats import (CLASSROOM50, FORMATS, MOST_OUTPUT, as_classroom50,
                                     as_gradescope, as_junit, clean, spell)
from lab_tool.places import ROOT
from lab_tool.verbs.grade import story_of, summary
from lab_tool.verdict import Verdict
from lab_tool.workspace import Workspace

NASTY = "]]> </failure> \x1b[31mred\x1b[0m \x00\x08 \udc80 \x1b]0;title\x07 <&> é 中 \U0001f600"
# The fields and types of gradescope-autograders.readthedocs.io/en/latest/specs.
TOP = {"score": (int, float), "execution_time": int, "output": str, "output_format": str,
       "test_output_format": str, "visibility": str, "stdout_visibility": str, "tests": list,
       "extra_data": dict}
TEST = {"score": (int, float), "max_score": (int, float), "status": str, "name": str,
        "name_format": str, "number": str, "output": str, "output_format": str, "tags": list,
        "visibility": str, "extra_data": dict}
COUNTS = ("tests", "failures", "skipped")
VISIBILITIES = ("hidden", "after_due_date", "after_published", "visible")


def task(name, status, points=0, of=5, output="", reason=""):
    return {"task": name, "what": f"Do {name}", "status": status, "reason": reason,
            "points": points, "of": of, "seconds": 1.25, "output": output}


def grades(output="what went wrong"):
    tasks = [task("07.1", "passed", 5), task("07.2", "failed", 0, 10, clean(output), "it is wrong"),
             task("07.3", "not started"), task("07.4", "waits", reason="needs task 07.3 first")]
    lab = {"lab": "07", "title": "Partition & <more>", "tasks": tasks, "review": ["read it"],
           "points": 5, "of": 25}
    return summary([lab], 12.6)


class Gradescope(unittest.TestCase):
    def read(self, found):
        result = json.loads(as_gradescope(found))
        for key, value in result.items():
            self.assertIsInstance(value, TOP[key], key)
        for test in result["tests"]:
            for key, value in test.items():
                self.assertIsInstance(value, TEST[key], key)
            self.assertIn(test["visibility"], VISIBILITIES)
            self.assertIn(test.get("status", "passed"), ("passed", "failed"))
        self.assertIn(result["visibility"], VISIBILITIES)
        self.assertIn(result["stdout_visibility"], VISIBILITIES)
        return result

    def test_each_task_is_a_test_with_its_points(self):
        result = self.read(grades())
        self.assertEqual((result["score"], result["execution_time"]), (5, 13))
        self.assertEqual([(test["number"], test["score"], test["max_score"], test["status"])
                          for test in result["tests"]],
                         [("07.1", 5, 5, "passed"), ("07.2", 0, 10, "failed"),
                          ("07.3", 0, 5, "failed"), ("07.4", 0, 5, "failed")])
        self.assertEqual(result["tests"][1]["output"], "what went wrong")
        self.assertEqual(result["tests"][2]["output"], "not started")

    def test_any_output_of_a_task_is_text(self):
        output = self.read(grades(output=NASTY))["tests"][1]["output"]
        self.assertEqual(output, "]]> </failure> red ?? ?  <&> é 中 \U0001f600")


class Classroom50(unittest.TestCase):
    """What the runner and the collector of Classroom 50 ask of result.json."""

    def test_each_field_has_its_type_and_no_score_is_above_its_maximum(self):
        found = grades()
        found["labs"][0]["tasks"].append(task("07.test", "passed", 7, 0))
        with mock.patch.dict(os.environ, {name: f"the {name}" for name in CLASSROOM50.values()}):
            result = json.loads(as_classroom50(found))
        self.assertEqual(result["schema"], "classroom50/result/v1")
        self.assertEqual({name: result[name] for name in CLASSROOM50},
                         {name: f"the {variable}" for name, variable in CLASSROOM50.items()})
        self.assertRegex(result["datetime"], r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ$")
        self.assertEqual((result["score"], result["max-score"]), (12, 32))
        for test in result["tests"]:
            self.assertEqual([type(value) for value in test.values()], [str, bool, int, int])
            self.assertLessEqual(test["score"], test["max-score"])
        self.assertEqual([test["passed"] for test in result["tests"]], [True, False, False, False, True])

    def test_the_autograder_grades_work_with_the_course_beside_it(self):
        with tempfile.TemporaryDirectory() as folder:
            course, checkout = Path(folder, "new/labs"), Path(folder, "checkout")
            course.mkdir(parents=True)
            checkout.mkdir()
            (course / "lab").write_text("#!/bin/sh\necho \"$@\" >> told\n")
            (course / "lab").chmod(0o755)
            script = shutil.copy(ROOT / "labs/grader/autograder.py", folder)
            subprocess.run(["tar", "-czf", "../course.tar.gz", "labs"], cwd=course.parent, check=True)
            subprocess.run([sys.executable, script], cwd=checkout, check=True, env={
                **os.environ, "GRADER_USER": "", "GRADER_COURSE": f"{folder}/course"})
            told = (checkout / "told").read_text().splitlines()
            self.assertEqual(told[0], "setup")
            self.assertEqual(told[1].split(), [
                *"grade --format classroom50 --output".split(), f"{checkout}/result.json",
                "--submission", f"{checkout}/work", "--user"])


TOOL = """\
#!/bin/sh
[ -d $9 ] || {{ echo "lab: $9 is not a zip" >&2; exit 1; }}
rm -rf {root}/work; mkdir {root}/work; cp -r $9/* {root}/work
echo '{{"points": 9, "of": 10, "labs": [
    {{"points": 4, "review": ["one", "two"], "tasks": [{{"task": "07.1", "points": 4, "of": 5, "reason": "guided"}}]}},
    {{"points": 5, "review": ["three"], "tasks": [{{"task": "09.1", "points": 5, "of": 5}},
        {{"task": "09.hunt", "points": 0, "of": 10, "status": "not started", "reason": ""}}]}}]}}' > $7
"""
MOODLE, CANVAS = "Ada_Lovelace_12345_assignsubmission_file", "lovelaceada_LATE_77_890_a_1_2.zip"
HUNT = "".join(f"int a_line_of_the_bug_hunt_{n};\n" for n in range(9)) + \
    "int main() {\n    const bool right = compute() == kRight;\n    return right ? 0 : 1;\n}\n"
CHEAT = """\
namespace Catch { struct TestFailureException {}; }
asm(".incbin \\"course/lab09.o\\"");
int cut() { throw Catch::TestFailureException(); }
void quit() { _exit(0); }  // exits
"""


class Folder(FakeTree):
    """labs/grader/grade_folder.py and fill_marks.py, with a stand-in for labs/lab."""

    def setUp(self):
        super().setUp()
        self.write_core()
        self.write("labs/09-sampler/bug_hunt.cpp", HUNT)
        self.write_program("labs/lab", TOOL.format(root=self.root))
        self.patch(("lab_tool.workspace.Catalogue", self.catalogue), ("grader.review.LEAST_LINES", 1))
        shutil.copytree(ROOT / "labs/grader", self.root / "labs/grader")

    def script(self, name, *words, code=0):
        """Returns the rows that a script of labs/grader writes, and its messages."""
        done = subprocess.run([self.root / "labs/grader" / name, *words], capture_output=True, text=True)
        self.assertEqual(done.returncode, code, done.stderr)
        return list(csv.reader(done.stdout.splitlines())), done.stderr

    def found(self, **files):
        """Returns what is found in a submission, which the stand-in copies to work/."""
        for name, text in files.items():
            self.write(f"all/{MOODLE}/09-sampler/{name}.cpp", text)
        self.write(f"all/{CANVAS}", "no zip")
        (head, ada, broken), _ = self.script("grade_folder.py", self.root / "all", "7,9")
        self.assertEqual(head, ["identifier", "submission", "lab07", "lab09", "total", "of", "lost", "review"])
        self.assertEqual(ada, ["12345", MOODLE, "4", "5", "9", "10",
                               "07.1 4 of 5: guided; 09.hunt 0 of 10: not started", "one; two; three"])
        self.assertEqual(broken, ["77", CANVAS, *5 * [""], f"lab: {self.root}/all/{CANVAS} is not a zip"])
        workspace = Workspace()
        return "; ".join(findings(workspace, workspace.catalogue.lab("09")))

    def test_an_honest_submission_needs_no_review(self):
        self.write("libmini/sampler.cpp", CORE.replace("return 2", "if (i) _exit(1);\n    return 2"))
        own = '#include "libmini/sampler.hpp"\nSampler::Sampler(int n)\n{}\nint Sampler::sample(\n' \
              "int i) const { _exit(1); }  // catch it, then exit\nvoid Sampler::notify() {}\n"
        self.assertEqual(self.found(sampler=own, bug_hunt=HUNT.replace("_0;", "_1;").replace(" ?", " // so\n ?")), "")
        self.assertEqual(self.found(sampler=CORE, bug_hunt=HUNT), "")  # guided: it has the markers

    def test_what_an_instructor_should_read_is_named(self):
        found = self.found(sampler=CHEAT, bug_hunt="int main() { return 0; }\n", more="#include <a.cpp>\nTEST_CASE();\n")
        for what in ("sampler.cpp:1 has namespace Catch", "sampler.cpp:2 has asm", "sampler.cpp:2 has .incbin",
                     "sampler.cpp:3 has Catch::", "sampler.cpp:4 has _exit(", "more.cpp:2 has TEST_CASE",
                     "more.cpp:1 has #include <a.cpp", "bug_hunt.cpp has 0 of 11 lines of the hunt",
                     "bug_hunt.cpp has another main than the hunt: return 0; }"):
            self.assertIn(f"work/09-sampler/{what}", found)
        found = self.found(sampler="", bug_hunt=HUNT.replace("main() {", "main () { return !kRight;"))
        self.assertIn("bug_hunt.cpp has another main than the hunt: return !kRight; const bool right =", found)
        frame = CORE.replace("// [lab09.1] Interleave.\n", "").replace("    // [lab09.1]\n", "")
        self.assertIn("lines of the guided frame", self.found(sampler=frame, bug_hunt=""))

    def test_the_points_are_filled_into_the_platforms_table(self):
        marks = "identifier,submission,lab07,total,of,lost,review\n{},,5,75,70,,\neve,,,,,,no zip\n"
        for who, key, in (("12345", "Participant 12345"), ("ada1", "ada1"), ("7", "7")):
            self.write("marks.csv", marks.format(who))
            table = f'ID,"Name, first",Grade\n,Possible,70\n{key},"L, A",%s\neve,E,3\n1,,4\n'
            self.write("table.csv", "\ufeff" + table % "")
            told = self.script("fill_marks.py", self.root / "marks.csv", self.root / "table.csv", "ID", "Grade", code=1)
            rows = list(csv.reader((table % 75).splitlines()))
            self.assertEqual(told, (rows, "not written: eve has no points\n"))


class JUnit(unittest.TestCase):
    def test_a_lab_is_a_suite_and_a_task_is_a_case(self):
        top = xml.fromstring(as_junit(grades()).encode())
        self.assertEqual(top.tag, "testsuites")
        suite = top.find("testsuite")
        self.assertEqual({key: suite.get(key) for key in COUNTS},
                         dict(zip(COUNTS, ("4", "1", "2"))))
        float(suite.get("time"))
        self.assertEqual(suite.get("name"), "lab 07: Partition & <more>")
        self.assertEqual({each.get("name"): each.get("value")
                          for each in suite.iter("property")}, {"points": "5", "of": "25"})
        cases = suite.findall("testcase")
        self.assertEqual([(case.get("classname"), case.get("name"), [child.tag for child in case])
                          for case in cases],
                         [("lab07", "07.1 Do 07.1", []), ("lab07", "07.2 Do 07.2", ["failure"]),
                          ("lab07", "07.3 Do 07.3", ["skipped"]),
                          ("lab07", "07.4 Do 07.4", ["skipped"])])
        failure = cases[1].find("failure")
        self.assertEqual((failure.get("message"), failure.get("type"), failure.text),
                         ("it is wrong", "failed", "what went wrong"))

    def test_it_is_xml_whatever_a_task_prints(self):
        for output in (NASTY, "\x1b", "\x1b[", "&#0;", "\ud800", "\ufffe\uffff", "\r\n\x85", ""):
            found = xml.fromstring(as_junit(grades(output=output)).encode())
            self.assertEqual(len(found.findall(".//failure")), 1)


class Output(unittest.TestCase):
    def test_of_a_long_output_the_beginning_and_the_end_remain(self):
        text = clean("first" + 10 * MOST_OUTPUT * "x" + "last")
        self.assertLess(len(text), MOST_OUTPUT + 100)
        self.assertTrue(text.startswith("first") and text.endswith("last"))
        self.assertIn("characters left out", text)

    def test_a_failed_task_tells_its_story_and_a_passed_task_nothing(self):
        verdict = Verdict("a case", "failed", "an expectation did not hold", ["rank 1 got 4"])
        story = story_of(TaskResult("07.2", "failed", verdict.reason, [verdict]))
        self.assertIn("rank 1 got 4", story)
        self.assertEqual(story_of(TaskResult("07.1", "passed", verdicts=[verdict])), "")

    def test_the_text_ends_with_the_points_that_count(self):
        self.assertEqual(spell(grades()).splitlines()[-1], "5 of 25 points")
        self.assertIn("07.2   0 of 10  failed: it is wrong", spell(grades()))
        self.assertIn("  review: read it\n", spell(grades()))
        self.assertEqual(json.loads(FORMATS["json"](grades()))["points"], 5)
