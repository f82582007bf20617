"""Mutants; sources with stub, mutants and reference in each region; the verdicts of dev check."""

import unittest
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace

from fake_tree import PARTITION, TWICE, FakeTree
from author_tool import dev_check
from lab_tool.catalogue import Lab, Task
from author_tool.dev_check import Case, Outcome
from author_tool.mutants import Change, Mutant, apply, read_mutants
from author_tool.schemata import generate, schemata
from lab_tool.screen import LabError
from lab_tool.verdict import Verdict

CODE = "begin a b c a b d end".split()


class Changes(FakeTree):
    def apply(self, *lines):
        change = Change("name", "It is wrong.", "lab07.1.diff:3", lines)
        return " ".join(apply(change, CODE))

    def test_lines_are_removed_and_added_at_the_only_place_that_fits(self):
        self.assertEqual(self.apply("-c", "+x", "+y"), "begin a b x y a b d end")
        self.assertEqual(self.apply(" b", "-d", "+"), "begin a b c a b  end")
        self.assertEqual(self.apply("+x", " d"), "begin a b c a b x d end")
        for line, count in (("-b", 2), ("-e", 0)):
            with self.assertRaisesRegex(LabError, f"07.1.diff:3: name: .* occur {count} times"):
                self.apply(line)

    def test_three_dots_stand_for_lines_that_stay_or_go(self):
        self.assertEqual(self.apply("-c", " ...", "-b", "+x"), "begin a b a x d end")
        self.assertEqual(self.apply("-c", "-...", " d", "+x"), "begin a b d x end")
        self.assertEqual(self.apply("-...", "+x"), "begin x")
        with self.assertRaisesRegex(LabError, "'c' .* occur 0 times"):
            self.apply("-d", " ...", "-c")

    def test_a_change_ends_before_the_next_marker(self):
        code = PARTITION.split("\n")
        lines = apply(Change("name", "", "", ("-    take();", "-...", "+    x();")), code)
        self.assertEqual("\n".join(lines), PARTITION.replace("take();\n    keep();", "x();"))


class Mutants(FakeTree):
    def mutants(self, text):
        self.write("tests/mutants/lab07.1.diff", text)
        return [each for each in read_mutants(self.catalogue()) if each.task == "07.1"]

    def test_a_mutant_has_a_sentence_and_the_body_of_the_region_that_it_changes(self):
        mutant = self.mutants("@@ a: It is wrong.\n-    return index[i];\n+    wrong();\n")[0]
        self.assertEqual((mutant.name, mutant.lab), ("lab07.1/a", "07"))
        self.assertEqual((mutant.wrong, mutant.place), ("It is wrong.", "tests/mutants/lab07.1.diff:1"))
        self.assertEqual(mutant.bodies, {("07.1", "libmini/part.cpp", 0): ("    wrong();",)})

    def test_mutants_are_sorted_and_no_name_comes_twice(self):
        text = "@@ b: One.\n-...\n@@ a: Two.\n-...\n"
        self.assertEqual([each.place[-2:] for each in self.mutants(text)], [":3", ":1"])
        with self.assertRaisesRegex(LabError, "lab07.1.diff:3: a change is called b already"):
            self.mutants(text.replace("@@ a", "@@ b"))

    def test_a_line_that_belongs_to_no_change_is_reported(self):
        for text in ("-...\n", "@@ a\n", "@@ a: No sentence\n", "@@ a: One.\nwrong();\n"):
            with self.assertRaisesRegex(LabError, r"lab07.1.diff:\d: a change begins with `@@ name"):
                self.mutants(text)

    def test_a_mutant_without_a_region_is_rejected(self):
        self.write_mutants("06.1", "a")
        with self.assertRaisesRegex(LabError, r"lab06.1.diff: there is no region \[lab06.1\]"):
            read_mutants(self.catalogue())

    def test_the_lines_or_a_marker_select_one_of_several_regions(self):
        self.write("libmini/part.cpp", TWICE)
        (self.root / "labs/09-sampler/README.md").unlink()
        (self.root / "tests/mutants/lab09.1.diff").unlink()
        for first in ("-    every(2);", "     // [lab07.1] Interleave.\n-..."):
            mutant = self.mutants(f"@@ a: One.\n{first}\n+x();\n")[0]
            self.assertEqual(mutant.bodies, {("07.1", "libmini/part.cpp", 1): ("x();",)})


class Schemata(FakeTree):
    def test_a_region_contains_its_stub_its_mutants_and_the_reference(self):
        text = schemata(PARTITION, "libmini/part.cpp", read_mutants(self.catalogue()))
        lines = text.split("\n")
        start = lines.index('if (::mini::schemata::stubbed("lab07.1")) {')
        self.assertEqual(lines[start + 1:start + 5], [
            '    MINI_TODO("lab07.1", "Look the place up.");',
            '} else if (::mini::schemata::mutated("lab07.1/a")) {',
            '#line 1 "tests/mutants/lab07.1/a"', "    wrong();"])
        end = lines.index("} else {", start)
        self.assertEqual(lines[end + 1:end + 5], [
            '#line 3 "libmini/part.cpp"', "    return index[i];", "}",
            '#line 4 "libmini/part.cpp"'])

    def test_a_mutant_of_the_second_region_is_not_in_the_first(self):
        path = "libmini/part.cpp"
        twice = TWICE
        mutant = Mutant("lab07.1/a", "It is wrong.", "m", {("07.1", path, 1): ("wrong();",)})
        text = schemata(twice, path, [mutant])
        self.assertEqual(text.count("wrong();"), 1)
        self.assertGreater(text.index("wrong();"), text.index("keep();"))

    def test_unchanged_files_are_not_rewritten_and_old_files_are_removed(self):
        folder, catalogue = self.root / "build/schemata", self.catalogue()
        mutants = read_mutants(catalogue)
        path = generate(catalogue, catalogue.labs, mutants, folder)[0]
        before = path.stat().st_mtime_ns
        self.write("build/schemata/libmini/old.cpp", "")
        generate(catalogue, catalogue.labs, mutants, folder)
        self.assertEqual(path.stat().st_mtime_ns, before)
        self.assertFalse((folder / "libmini/old.cpp").exists())


    def test_only_the_files_of_the_labs_are_written(self):
        self.write("libmini/other.cpp", "// [lab09.2] Do.\nx();\n// [lab09.2]\n")
        catalogue, folder = self.catalogue(), self.root / "build/schemata"
        self.assertEqual(generate(catalogue, [catalogue.lab("7")], [], folder),
                         [folder / "libmini/part.cpp"])


class Stubs(unittest.TestCase):
    CASES = [Case("first", {"07.1"}), Case("second", {"07.2"}), Case("third", {"07.3"})]

    def complaints(self, first, second, third):
        outcome = Outcome()
        verdicts = [Verdict(case.name, status) for case, status in
                    zip(self.CASES, (first, second, third))]
        dev_check.judge_stub("07.2", {"07.2"}, verdicts, self.CASES, outcome)
        return outcome.complaints

    def test_with_a_stub_only_its_own_and_later_tasks_may_be_not_started(self):
        self.assertEqual(self.complaints("passed", "not started", "not started"), [])
        self.assertEqual(self.complaints("passed", "not started", "passed"), [])

    def test_a_case_of_the_same_task_that_does_not_detect_the_stub(self):
        self.assertIn("'second' passed", self.complaints("passed", "passed", "passed")[0])
        self.assertIn("'second' failed", self.complaints("passed", "failed", "passed")[0])

    def test_an_earlier_task_that_needs_it_and_a_case_that_fails(self):
        self.assertIn("of the earlier task 07.1",
                      self.complaints("not started", "not started", "passed")[0])
        self.assertIn("'third' of 07.3 failed",
                      self.complaints("passed", "not started", "failed")[0])


class Runs(unittest.TestCase):
    """The runs of dev_check, with cases that return given verdicts."""

    LAB = Lab("07", None, "Partition", [Task("07.1", "", "", ""), Task("07.2", "", "", "")])
    MUTANT = SimpleNamespace(name="lab07.2/a", task="07.2", lab="07", wrong="It.", place="p")

    def setUp(self):
        self.first, self.second = Case("first", {"07.1"}), Case("second", {"07.2"})
        self.cases = {"07": [self.first, self.second]}
        self.statuses, self.asked = {}, []
        for name in ("checking", "first_failure", "check_together"):
            self.addCleanup(setattr, dev_check, name, getattr(dev_check, name))

        def check_case(program, name, *limits, **environment):
            if reached := environment.pop("MINI_REACHED", ""):
                Path(reached).write_text("lab07.1\n", encoding="utf-8")
            self.asked.append((name, environment))
            return Verdict(name, self.statuses.get(name, "passed"), "why")

        dev_check.checking = SimpleNamespace(
            program_of=lambda *_: "program", check_case=check_case,
            pool_of_cases=lambda *_: ThreadPoolExecutor(1))
        dev_check.first_failure = lambda program, names, limits_of, **environment: next(
            (verdict for verdict in (check_case(program, name, **environment) for name in names)
             if verdict.status == "failed"), None)
        dev_check.check_together = lambda program, names, **environment: [
            check_case(program, name, **environment) for name in names]

    def regions_of(self, *tasks, in_device_file=False):
        region = SimpleNamespace(in_device_file=in_device_file)
        return SimpleNamespace(regions_of=lambda lab="", task="": [region] * (lab == "07" or task in tasks))

    def test_a_lab_whose_reference_fails_is_not_checked_further(self):
        outcome = Outcome()
        self.assertEqual(dev_check.check_references([self.LAB], self.cases, outcome), [self.LAB])
        self.statuses["second"] = "failed"
        self.assertEqual(dev_check.check_references([self.LAB], self.cases, outcome), [])

    def test_with_a_stub_the_cases_run_that_need_its_task(self):
        self.statuses["first"] = "not started"
        outcome = Outcome()
        dev_check.check_references([self.LAB], self.cases, Outcome())
        self.asked.clear()
        dev_check.check_stubs(self.regions_of("07.1", "07.2"), [self.LAB], self.cases, outcome)
        self.assertEqual(self.asked, [("first", {"MINI_STUB": "lab07.1"}),
                                      ("second", {"MINI_STUB": "lab07.1"}),
                                      ("second", {"MINI_STUB": "lab07.2"})])
        self.assertEqual(len(outcome.complaints), 1)  # "second" passes without its task
        self.asked.clear()
        dev_check.check_stubs(self.regions_of("07.1"), [self.LAB], self.cases, Outcome())
        self.assertNotIn(("second", {"MINI_STUB": "lab07.2"}), self.asked)  # 07.2 has no region

    def test_the_cases_of_a_lab_with_kernels_run_one_by_one(self):
        dev_check.check_together = None
        self.first.reached, self.second.reached = {"07.1", "07.2"}, {"07.1"}
        self.statuses["first"] = "not started"
        outcome = Outcome()
        dev_check.check_stubs(self.regions_of("07.1", "07.2", in_device_file=True), [self.LAB],
                              self.cases, outcome)
        self.assertEqual(len(self.asked), 4)
        self.assertIn(("second", {"MINI_STUB": "lab07.1"}), self.asked)
        self.assertEqual(len(outcome.complaints), 2)  # "first" needs 07.2, "second" passes

    def test_a_mutant_is_killed_by_the_first_failing_case_its_own_tasks_first(self):
        outcome = Outcome()
        self.statuses = {"first": "failed", "second": "failed"}
        dev_check.check_mutants([self.MUTANT], self.cases, outcome)
        self.assertEqual(self.asked, [("second", {"MINI_MUTANT": "lab07.2/a"})])
        self.assertEqual(outcome.killed[0][1].name, "second")

    def test_quick_cases_run_before_slow_ones(self):
        self.cases["07"].insert(0, Case("slow", {"07.2"}, seconds=3.0))
        self.statuses = {"slow": "failed"}
        dev_check.check_mutants([self.MUTANT], self.cases, Outcome())
        self.assertEqual([name for name, _ in self.asked], ["second", "slow"])
        self.statuses["second"] = "failed"
        dev_check.check_mutants([self.MUTANT], self.cases, Outcome())
        self.assertEqual([name for name, _ in self.asked], ["second", "slow", "second"])

    def test_a_mutant_is_checked_by_the_cases_that_reach_its_task(self):
        outcome = Outcome()
        self.statuses = {"first": "not started"}
        dev_check.check_mutants([self.MUTANT], self.cases, outcome)
        self.assertEqual([name for name, _ in self.asked], ["second"])
        self.first.reached = {"07.2"}
        self.statuses = {"first": "failed"}
        dev_check.check_mutants([self.MUTANT], self.cases, outcome)
        self.assertEqual(outcome.killed[0][1].name, "first")
