"""A learner's own test of a lab: what it must do, which mutants it kills, and the bonus points. A
script replaces the compiled program; it runs the code of 07.1, of which there are four mutants."""

import json
import sys
import xml.etree.ElementTree as xml
from unittest import mock

from fake_tree import PARTITION, FakeTree

OWN = "work/07-partition/my_test.cpp"
PROGRAM = """\
#!{python} -IS
import os, sys, time
if sys.argv[1] == "--list-test-names-only":
    print("one\\nanother")
    sys.exit(2)
name, path, mutant = sys.argv[1], sys.argv[5], os.environ.get("MINI_MUTANT", "")
if "MINI_REACHED" in os.environ:
    open(os.environ["MINI_REACHED"], "a").write("lab07.1\\n")
success, told = True, ""
{body}
with open(path, "w") as file:
    file.write(f'<Catch><TestCase name="{{name}}">{{told}}'
               f'<OverallResult success="{{str(success).lower()}}"/></TestCase></Catch>')
if success:
    os.write(int(os.environ["MINI_TOKEN"]), os.read(int(os.environ["MINI_TOKEN"]), 32))
sys.exit(not success)
"""
TOLD = ('told = "<Expression type=\'CHECK\' filename=\'a.cpp\' line=\'7\'><Original>a == b</Original>'
        '<Expanded>1 == 2</Expanded></Expression>"')


class TestYours(FakeTree):
    def setUp(self):
        super().setUp()
        self.build = mock.Mock(return_value=(0, []))
        self.patch(("lab_tool.workspace.Catalogue", self.catalogue),
                   ("lab_tool.verbs.test_yours.BODIES", self.root / "build/yours"),
                   ("author_tool.dev_check.LEAST_SECONDS", 0.5),
                   ("lab_tool.hunts.build_checks", lambda *words: self.build(*words)),
                   ("lab_tool.hunts.fresh_log", lambda name: name),
                   ("lab_tool.verbs.test_yours.program_of", lambda *_: self.program))
        self.write(OWN, "mine")

    def run_with(self, *body, code=0):
        self.program = self.write_program("program", PROGRAM.format(
            python=sys.executable, body="\n".join(body)))
        return self.call("test-yours", "7", code=code)

    def test_the_first_call_writes_a_test_to_begin_with_which_is_not_run(self):
        self.write_core()
        self.assertIn("wrote work/09-sampler/my_test.cpp", self.call("test-yours", "9"))
        text = (self.root / "work/09-sampler/my_test.cpp").read_text()
        self.assertIn('#include "libmini/sampler.hpp"\n\n#include "tests/support/catch.hpp"', text)
        self.assertIn("is still the one to begin with", self.call("test-yours", "9", code=1))

    def test_the_killed_mutants_are_counted_and_never_named(self):
        out = self.run_with("success = mutant not in ('lab07.1/a', 'lab07.1/b')")
        self.assertIn("  07.1  2 of 4 mutants killed\n"
                      "  07.2  0 of 4 mutants killed: your test does not run its code\n", out)
        self.assertIn("your test kills 2 of 8 mutants: 3 of 10 bonus points", out)
        self.assertNotIn("/a", out)
        self.build.assert_called_with(["lab07_yours"], "lab07_yours")
        self.assertTrue((self.root / "build/yours/libmini/part.cpp").exists())

    def test_a_mutant_on_which_it_hangs_or_crashes_is_killed(self):
        self.assertIn("kills 2 of 8", self.run_with("if mutant == 'lab07.1/a': time.sleep(60)",
                                                    "if mutant == 'lab07.1/b': os.abort()"))

    def test_it_must_pass_on_the_reference(self):
        out = self.run_with("success = name != 'another'", TOLD, code=1)
        self.assertIn("your test fails on the reference", out)
        self.assertIn("case: another\n    an expectation did not hold\n    libmini's 1\n    expected  2\n"
                      "    CHECK( a == b )\n      at a.cpp:7\n", out)
        self.assertNotIn("mutants", out)

    def test_a_test_with_varying_results_is_detected(self):
        for body in ("success = 'MINI_REACHED' not in os.environ",  # the cases together
                     "success = name != '*' or 'MINI_REACHED' in os.environ"):  # among the mutants
            self.assertIn("passes and fails on the same code", self.run_with(body, code=1))

    def test_it_must_compile_and_be_quick(self):
        with mock.patch("lab_tool.verbs.test_yours.MOST_SECONDS", 0.0):
            self.assertIn("and may take 0 s", self.run_with(code=1))
        self.build.return_value = 1, [f"{self.root}/{OWN}:3:1: error: no such name"]
        out = self.run_with(code=1)
        self.assertIn(f"{OWN} does not build", out)
        self.assertIn("no such name", out)

    def test_grades_have_its_bonus_points_but_not_in_a_course(self):
        self.write("work/07-partition/part.cpp", PARTITION)
        self.patch(("lab_tool.verbs.grade.build_without_broken", lambda *_: {}),
                   ("lab_tool.verbs.grade.check_lab", lambda *_, **__: []))
        self.run_with("success = not mutant")
        grades = {}
        for form in ("text", "json", "gradescope", "junit"):
            self.call("grade", "7", "--format", form)
            grades[form] = self.out
        self.assertIn("  07.test   5 bonus  passed: kills 4 of 8 mutants: 5 of 10 bonus points\n", grades["text"])
        self.assertIn("\n5 of 10 points", grades["text"])
        last = json.loads(grades["json"])["labs"][0]["tasks"][-1]
        self.assertEqual((last["task"], last["points"], last["of"]), ("07.test", 5, 0))
        test = json.loads(grades["gradescope"])["tests"][-1]
        self.assertEqual((test["score"], test["max_score"]), (5, 0))
        case = xml.fromstring(grades["junit"]).findall(".//testcase")[-1]
        self.assertEqual((case.get("name"), case.findtext("system-out")),
                         ("07.test Your own test", "kills 4 of 8 mutants: 5 of 10 bonus points"))
        self.patch(("lab_tool.catalogue.Catalogue.course", {"labs": ["07"]}))
        self.assertNotIn("bonus", self.call("grade", "7"))
