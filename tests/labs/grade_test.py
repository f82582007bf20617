"""Grades: points for each task, a stable JSON format, and no points for cheats. The check
program is a script whose case for 07.2 cheats, in one of four ways."""

import json
import sys
import unittest
from unittest import mock

from fake_tree import PARTITION, FakeTree
from lab_tool.state import State

RESULT = ('<Catch><TestCase name="{name}"><OverallResult success="{success}"/></TestCase></Catch>')

PROGRAM = """\
#!{python} -IS
import os, sys
CASES = {{"honest": "07.1", "{cheat}": "07.2", "stub": "09.1"}}
if sys.argv[1] == "--list-test-names-only":
    names = [name for name, task in CASES.items() if sys.argv[2] == f"[lab{{task}}]"]
    print("\\n".join(names))
    sys.exit(len(names))
name, path = sys.argv[1], sys.argv[5]
result = '{result}'
if name == "prints a result and leaves":
    print(result.format(name=name, success="true"), flush=True)
    os._exit(0)
if name == "writes points itself":
    open("{root}/grades.json", "w").write('{{"points": 30}}')
    open("{root}/work/.lab.json", "w").write('{{"version": 1, "current": "", "labs": {{}}}}')
if name == "passes and then crashes":
    open(path, "w").write(result.format(name=name, success="true"))
    os.abort()
if name == "reports no case":
    open(path, "w").write("<Catch/>")
    sys.exit(0)
open(path, "w").write(result.format(name=name, success=str(name == "honest").lower()))
if name == "honest":
    os.write(int(os.environ["MINI_TOKEN"]), os.read(int(os.environ["MINI_TOKEN"]), 32))
"""
CHEATS = ("prints a result and leaves", "writes points itself", "passes and then crashes",
          "reports no case")


class Grade(FakeTree):
    def setUp(self):
        super().setUp()
        self.cheat(CHEATS[0])
        self.output = self.root / "grades.json"
        self.write("work/07-partition/part.cpp", PARTITION)
        self.begin()
        self.patch(("lab_tool.workspace.Catalogue", self.catalogue),
                   ("lab_tool.verbs.grade.build_without_broken", lambda *_: {}),
                   ("lab_tool.checking.program_of", lambda *_: self.program))

    def begin(self):
        state = State(self.root)
        state.of("07")["results"]["07.2"] = "passed"  # an earlier check's verdict gives no points
        state.save()

    def cheat(self, name):
        self.program = self.write_program("lab07_check", PROGRAM.format(
            python=sys.executable, root=self.root, cheat=name, result=RESULT))

    def grade(self, *options, code=0):
        """Returns what labs/lab grade prints on stdout."""
        self.call("grade", *options, code=code)
        return self.out

    def test_the_json_has_labs_with_tasks_with_points(self):
        self.write("work/07-partition/more.cpp", "void leave() { _exit(0); }\n")
        grades = json.loads(self.grade("--format", "json"))
        self.assertEqual([lab["review"] for lab in grades["labs"]],
                         [["work/07-partition/more.cpp:1 has _exit("], []])
        self.assertEqual({key: grades[key] for key in ("version", "points", "of")},
                         {"version": 1, "points": 5, "of": 15})
        self.assertEqual([(lab["lab"], lab["title"], lab["points"], lab["of"])
                          for lab in grades["labs"]],
                         [("07", "Partition", 5, 10), ("09", "Sampler", 0, 5)])
        first, second = grades["labs"][0]["tasks"]
        self.assertEqual(first, {"task": "07.1", "what": "Do 07.1", "status": "passed",
                                 "reason": "", "points": 5, "of": 5, "output": "",
                                 "seconds": first["seconds"]})
        self.assertEqual((second["task"], second["status"], second["points"]),
                         ("07.2", "failed", 0))
        self.assertTrue(second["reason"])

    def test_the_text_has_a_line_for_each_task_and_the_sum_last(self):
        lines = self.grade().splitlines()
        self.assertEqual(lines[:2], ["lab 07 · Partition: 5 of 10", "  07.1   5 of 5   passed"])
        self.assertIn("  09.1   0 of 5   not started", lines)
        self.assertEqual(lines[-1], "5 of 15 points")

    def test_cheats_get_no_points(self):
        for name in CHEATS:
            with self.subTest(name):
                self.begin()
                self.cheat(name)
                self.grade("--format", "json", "--output", str(self.output))
                grades = json.loads(self.output.read_text())
                task = grades["labs"][0]["tasks"][1]
                self.assertEqual((task["status"], task["points"], grades["points"]),
                                 ("failed", 0, 5))

    def test_a_submission_that_cannot_be_graded_has_a_result_for_gradescope(self):
        self.grade("--format", "gradescope", "--output", str(self.output), "8", code=1)
        result = json.loads(self.output.read_text())
        self.assertEqual(result["score"], 0)
        self.assertIn("there is no lab 8", result["output"])

    def test_only_the_named_labs_are_graded_and_the_text_goes_to_stdout(self):
        out = self.grade("--format", "json", "--output", str(self.output), "7")
        self.assertEqual([lab["lab"] for lab in json.loads(self.output.read_text())["labs"]],
                         ["07"])
        self.assertEqual(out.splitlines()[-1], "5 of 10 points")

    def test_another_user_needs_root_and_an_account_without_rights(self):
        for name, user, told in (("root", "root", "is root"), ("root", "no-such-user", "useradd"),
                                 ("student", "daemon", "needs root")):
            with mock.patch("os.geteuid", lambda: 0 if name == "root" else 1000):
                self.grade("--user", user, code=1)
                self.assertIn(told, self.err)

    def test_if_the_learners_file_is_missing_the_task_gets_no_points(self):
        self.write("libmini/other.cpp", PARTITION.replace("lab07.2", "lab07.9"))
        self.write_lab("07-partition", "Partition", ["07.1", "07.2", "07.9"])
        (self.root / "work/07-partition/part.cpp").rename(self.root / "work/07-partition/other.cpp")
        grades = json.loads(self.grade("--format", "json"))
        self.assertEqual([task["points"] for task in grades["labs"][0]["tasks"]], [0, 0, 0])
        self.assertIn("work/07-partition/part.cpp is missing",
                      grades["labs"][0]["tasks"][0]["reason"])

    def test_an_output_in_a_missing_folder_is_rejected_before_checking(self):
        with mock.patch("lab_tool.verbs.grade.grade", side_effect=AssertionError):
            self.grade("--output", str(self.root / "no/folder/grades.json"), code=1)
        self.assertIn("no/folder is not a folder", self.err)
