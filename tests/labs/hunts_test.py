"""Bug hunts are repaired in work/, checked by their exit code, and verified with stored repairs."""

import unittest
from pathlib import Path
from unittest import mock

from fake_tree import FakeTree
from author_tool import repairs
from grader.review import words_of_main
from lab_tool import hunts
from lab_tool.catalogue import Catalogue
from author_tool.dev_check import Outcome
from lab_tool.projection import files_of
from lab_tool.runner import Limits
from lab_tool.screen import LabError

ROOT = Path(__file__).resolve().parents[2]
HUNT = "int main() {\n    int a = 1;\n    int b = 1;\n    int c = 0;\n    return a + b;\n}\n"
REPAIR = "@@ a: It is one.\n-    int a = 1;\n+    int a = 0;\n"
OTHER = REPAIR.replace("int a", "int b").replace("@@ a", "@@ b")


class HuntTree(FakeTree):
    def setUp(self):
        super().setUp()
        self.write("labs/07-partition/bug_hunt.cpp", HUNT)
        self.write("tests/hunts/lab07.diff", REPAIR + OTHER)
        self.lab = self.catalogue().lab("7")

    def program(self, script):
        return self.write_program("program", f"#!/bin/sh\n{script}\n")


class Learner(HuntTree):
    def check(self, script="exit 0", code=0, lines=()):
        with mock.patch.multiple(hunts, program_of=lambda *_: self.program(script),
                                 build_checks=lambda *_: (code, list(lines)),
                                 fresh_log=lambda name: name):
            return hunts.check_hunt(self.workspace(), self.lab)

    def test_a_hunt_is_not_started_until_it_is_changed(self):
        self.write(f"work/{self.lab.hunt[5:]}", HUNT)
        self.assertEqual(self.check().status, "not started")
        self.write(f"work/{self.lab.hunt[5:]}", "mine")
        self.assertEqual(self.check().status, "passed")

    def test_it_fails_with_the_end_of_its_output_if_the_exit_code_is_not_0(self):
        self.write(f"work/{self.lab.hunt[5:]}", "mine")
        result = self.check("echo twice: 5; exit 3")
        self.assertEqual((result.task, result.status), ("07.hunt", "failed"))
        self.assertIn("the program exits with code 3", result.reason)
        self.assertIn("  twice: 5", result.verdicts[0].story)

    def test_it_fails_if_it_does_not_end_or_does_not_compile_or_is_missing(self):
        self.assertIn("did not end within",
                      hunts.run_hunt(self.program("sleep 60"), Limits(seconds=0.2))[0])
        self.assertIn("labs/lab reset 07 hunt", self.check().reason)
        self.write(f"work/{self.lab.hunt[5:]}", "mine")
        result = self.check(code=1, lines=["/x/work/07-partition/a.cpp:3:1: error: no such name"])
        self.assertIn("does not build", result.reason)
        self.assertEqual(result.errors[0].message, "no such name")

    def test_a_hunt_with_kernels_is_run_by_the_checker_of_the_simulator(self):
        line = "x" * 120
        script = f'echo "{line}: $MINI_SIM_CHECK"; ' + 'exit ${MINI_SIM_CHECK:-0}'
        self.write(f"work/{self.lab.hunt[5:]}", "mine")
        self.assertEqual(self.check(script).status, "passed")
        (self.root / self.lab.hunt).rename(self.root / "labs/07-partition/bug_hunt.cu")
        self.lab = self.catalogue().lab("7")
        self.write(f"work/{self.lab.hunt[5:]}", "mine")
        result = self.check(script)
        self.assertEqual(result.status, "failed")
        self.assertIn(f"  {line}: 1", result.verdicts[0].story)

    def test_a_lab_without_a_hunt_says_so(self):
        with self.assertRaisesRegex(LabError, "lab 09 has no bug hunt"):
            hunts.check_hunt(self.workspace(), self.catalogue().lab("9"))

    def test_a_hunt_is_no_part_of_a_labs_check(self):
        self.write(f"work/{self.lab.hunt[5:]}", "mine")
        self.assertEqual(files_of(self.workspace(), {"07"}), {})


class Repairs(HuntTree):
    def test_the_variants_are_repaired_completely_and_without_each_repair(self):
        found = repairs.variants(HUNT, repairs.read_repairs(self.root, self.lab))
        self.assertEqual(set(found), {"repaired", "without_a", "without_b"})
        self.assertEqual(found["repaired"], HUNT.replace("= 1", "= 0"))
        self.assertEqual(found["without_a"], HUNT.replace("b = 1", "b = 0"))

    def test_one_repair_has_no_variant_without_it(self):
        self.write("tests/hunts/lab07.diff", REPAIR)
        found = repairs.variants(HUNT, repairs.read_repairs(self.root, self.lab))
        self.assertEqual(set(found), {"repaired"})

    def test_unchanged_variants_are_not_rewritten_and_old_ones_are_removed(self):
        folder = self.root / "build/hunts"
        labs = self.catalogue().labs
        names = repairs.generate(self.catalogue(), labs, folder)
        self.assertEqual([number for number in names if names[number]], ["07"])
        before = (folder / "07/repaired.cpp").stat().st_mtime_ns
        self.write("tests/hunts/lab07.diff", REPAIR)
        repairs.generate(self.catalogue(), labs, folder)
        self.assertEqual([path.name for path in folder.rglob("*.cpp")], ["repaired.cpp"])
        self.write("tests/hunts/lab07.diff", REPAIR + OTHER)
        (folder / "07/without_a.cpp").unlink(missing_ok=True)
        repairs.generate(self.catalogue(), labs, folder)
        self.assertTrue((folder / "07/without_b.cpp").exists())
        self.assertGreater((folder / "07/repaired.cpp").stat().st_mtime_ns, before)


    def test_a_hunt_with_kernels_keeps_its_suffix(self):
        (self.root / "labs/07-partition/bug_hunt.cpp").rename(
            self.root / "labs/07-partition/bug_hunt.cu")
        folder = self.root / "build/hunts"
        self.write("build/hunts/07/repaired.cpp", "old")
        catalogue = self.catalogue()
        self.assertEqual(catalogue.lab("7").all_tasks[-1].file, "labs/07-partition/bug_hunt.cu")
        repairs.generate(catalogue, catalogue.labs, folder)
        self.assertEqual(sorted(path.name for path in folder.rglob("*.c*")),
                         ["repaired.cu", "without_a.cu", "without_b.cu"])


class DevCheck(HuntTree):
    VARIANTS = {"07": ["repaired", "without_a"]}

    def complaints(self, succeed):
        """Returns the complaints if only programs with an ending of `succeed` exit with code 0."""
        outcome = Outcome()
        happened = lambda program, limits, **environment: (
            "" if str(program).rpartition("bug_hunt")[2] in succeed else "exits with code 1", "")
        with mock.patch("lab_tool.building.build_checks", lambda *_: (0, [])), \
                mock.patch.object(repairs, "run_hunt", happened):
            repairs.check_hunts([self.lab], self.VARIANTS, outcome, None)
        return outcome.complaints

    def test_only_the_completely_repaired_hunt_must_succeed(self):
        self.assertEqual(self.complaints(["_repaired"]), [])
        self.assertIn("all repairs of tests/hunts/lab07.diff the bug hunt exits", self.complaints([])[0])
        self.assertIn("succeeds without any repair", self.complaints(["", "_repaired"])[0])
        self.assertIn("succeeds without a", self.complaints(["_repaired", "_without_a"])[0])


class Stored(unittest.TestCase):
    def test_the_stored_repairs_match_their_hunts_and_change_no_main(self):
        matched = 0
        for lab in Catalogue(ROOT).labs:
            text = (ROOT / lab.hunt).read_text()
            for variant in repairs.variants(text, repairs.read_repairs(ROOT, lab)).values():
                matched += 1
                self.assertEqual(words_of_main(variant), words_of_main(text) or "a main", lab.hunt)
        self.assertGreater(matched, 10)
