"""`labs/lab dev check` on a small repository. A script that reads the source replaces the compiled
program with all bodies."""

import sys
import unittest
from unittest import mock

from fake_tree import PARTITION, SAMPLER, FakeTree
from author_tool import dev_check
from lab_tool.screen import LabError

# A case passes if the source has the reference's line and no stub or mutant of its task is chosen.
PROGRAM = """\
#!{python} -IS
import os, sys
CASES = {{"looks up": ("07.1", "return index[i];"), "cuts": ("07.2", "take();"),
         "deals": ("09.1", "every(2);")}}
if sys.argv[1] == "--list-test-names-only":
    lab = sys.argv[2].strip("[]").removeprefix("lab")
    names = [name for name, (task, _) in CASES.items() if task == lab or task[:2] == lab]
    print("\\n".join(names))
    sys.exit(len(names))
name, path = sys.argv[1].replace("\\\\", ""), sys.argv[5]
if name not in CASES:
    sys.exit(1)  # several cases in one process: then the tool runs them one by one
task, line = CASES[name]
inside, success = "", any(line in open(f"{folder}/{{name}}.cpp").read() for name in ("part", "sampler"))
if os.environ.get("MINI_STUB") == f"lab{{task}}":
    inside, success = f"<Exception>[lab{{task}}] not started: Do.</Exception>", False
if os.environ.get("MINI_MUTANT", "").startswith(f"lab{{task}}/"):
    success = os.environ["MINI_MUTANT"].endswith("/harmless")
with open(path, "w") as file:
    file.write(f'<Catch><TestCase name="{{name}}">{{inside}}'
               f'<OverallResult success="{{str(success).lower()}}"/></TestCase></Catch>')
if success:
    os.write(int(os.environ["MINI_TOKEN"]), os.read(int(os.environ["MINI_TOKEN"]), 32))
sys.exit(not success)
"""


class DevCheck(FakeTree):
    def setUp(self):
        super().setUp()
        program = self.write_program("schemata_program", PROGRAM.format(
            python=sys.executable, folder=self.root / "libmini"))
        self.patch(("lab_tool.verbs.dev.Catalogue", self.catalogue),
                   ("lab_tool.verbs.dev.fresh_log", lambda name: None),
                   ("lab_tool.verbs.dev.BUILD", self.root / "build"),
                   ("author_tool.dev_check.SCHEMATA", self.root / "build/schemata"),
                   ("author_tool.dev_check.build_schemata", lambda *_: ""),
                   ("author_tool.rules.program_of", lambda *_: program),
                   ("lab_tool.checking.program_of", lambda *_: program))

    def dev_check(self, code):
        return self.call("dev", "check", code=code)

    def test_a_correct_tree_passes_and_the_counts_are_printed_last(self):
        last = self.dev_check(0).splitlines()[-1]
        for count in ("2 labs", "3 tasks", "3 regions", "3 cases of the reference",
                      "3 stubs", "12 mutants", "12 killed", "0 wrong"):
            self.assertIn(count, last)

    def test_a_broken_line_of_the_reference_fails_it(self):
        for line, case in (("return index[i];", "looks up"), ("take();", "cuts"),
                           ("every(2);", "deals")):
            with self.subTest(line):
                self.write("libmini/part.cpp", PARTITION.replace(line, "broken();"))
                self.write("libmini/sampler.cpp", SAMPLER.replace(line, "broken();"))
                out = self.dev_check(1)
                self.assertIn(f"the reference fails '{case}'", out)

    def test_a_deleted_hint_fails_it(self):
        self.write("labs/07-partition/hints/07.2.md", "## 1\nThink.\n\n## 2\nLook.\n")
        self.assertIn("WRONG: labs/07-partition/hints/07.2.md has 2 hints (## 1, ## 2, ...), not 3", self.dev_check(1))
        (self.root / "labs/07-partition/hints/07.2.md").unlink()
        self.assertIn("hints/07.2.md has 0 hints", self.dev_check(1))

    def test_a_mutant_that_survives_fails_it(self):
        file = self.root / "tests/mutants/lab09.1.diff"
        file.write_text(f"{file.read_text()}@@ harmless: It is right.\n-...\n+    every(1 + 1);\n")
        self.assertIn("mutant lab09.1/harmless survives: It is right.", self.dev_check(1))

    def test_a_build_error_fails_it(self):
        with mock.patch.object(dev_check, "build_schemata", side_effect=LabError("a.cpp:3: no")):
            self.assertIn("WRONG: a.cpp:3: no", self.dev_check(1))
