"""The learner's verbs on a small repository, without a build."""

import unittest
from unittest import mock

from fake_tree import CORE, PARTITION, SAMPLER, FakeTree
from lab_tool.checking import TaskResult
from lab_tool.compile_errors import CompileError
from lab_tool.screen import LabError
from lab_tool.state import State
from lab_tool.verdict import Verdict


class Verbs(FakeTree):
    def setUp(self):
        super().setUp()
        self.results = {}  # the result of a check, by task; "passed" if not set
        self.built_with = None
        self.patch(("lab_tool.workspace.Catalogue", self.catalogue))
        for module in ("check", "grade"):
            self.patch((f"lab_tool.verbs.{module}.build_without_broken", self.build),
                       (f"lab_tool.verbs.{module}.check_lab", self.check_lab))

    def build(self, workspace, labs, mine=None):
        self.built_with = mine or {lab.number for lab in labs}
        return {}

    def check_lab(self, workspace, lab, broken, tasks=None, limits=None,
                  on_task=lambda result: None):
        found = []
        for task in tasks or [task.name for task in lab.tasks]:
            found.append(self.results.get(task, TaskResult(task, "passed")))
            on_task(found[-1])
        return found

    def test_with_all_mine_the_code_of_all_labs_is_built(self):
        self.call("start", "7")
        self.call("start", "9")
        self.call("check", "9")
        self.assertEqual(self.built_with, {"09"})
        self.call("check", "9", "--all-mine")
        self.assertEqual(self.built_with, {"07", "09"})

    def test_a_lab_from_its_start_to_its_end(self):
        self.assertIn("[--] 0/2  not started", self.call("status"))
        self.assertIn("labs/lab start 07", self.call("next"))
        self.assertIn("write  work/07-partition/part.cpp  (07.1, 07.2)", self.call("start", "7"))
        self.assertIn("· 07.1", self.call("status"))
        self.assertIn("write  work/07-partition/part.cpp\n         - Look the place up.",
                      self.call("next"))

        self.write("work/07-partition/part.cpp", PARTITION)
        self.assertIn("2 of 2 tasks pass; continue with: labs/lab next\n", self.call("check"))
        out = self.call("status")
        self.assertIn("[##] 2/2", out)
        self.assertIn("(labs/lab start 09)", out)

    def test_lab_00_is_the_first_until_it_has_passed_or_another_lab_is_started(self):
        self.write("labs/00-the-whole-idea/README.md", "# Lab 00 · The whole idea\n")
        told = "lab 00 · The whole idea (labs/lab start 00)"
        self.assertTrue(self.call("status").startswith("lab 00 · The whole idea  not started\nlab 07"))
        self.assertIn(f"next: {told}", self.out)
        self.assertEqual(self.call("next"), told + "\n")
        self.call("start", "7")
        self.assertIn("07.1 Do 07.1", self.call("next"))
        self.write("work/00-the-whole-idea/mini_ddp.cpp", "")
        state = State(self.root)
        state.current = "00"  # as labs/lab start 0 stores it
        state.save()
        self.assertTrue(self.call("status").startswith("lab 00 · The whole idea  started\n"))
        self.assertEqual(self.call("next"), "lab 00 · The whole idea (labs/lab check 00)\n")
        with mock.patch("runpy.run_path", lambda path: {"check": lambda: 3}):
            self.call("check", code=3)
        state.of("00")["results"]["00"] = "passed"
        state.save()
        self.assertTrue(self.call("status").startswith("lab 00 · The whole idea  passed\n"))
        self.assertIn("07.1 Do 07.1", self.call("next"))
        for words in (["hint", "0.1"], ["submit", "0"], ["reset", "0", "hunt"]):
            self.assertIn("lab 00 has no tasks", self.call(*words, code=1))

    def test_the_next_task_is_from_the_current_lab(self):
        self.call("start", "9")
        self.assertIn("09.1 Do 09.1", self.call("next"))
        self.assertIn("next: 09.1, Do 09.1 (labs/lab next)", self.call("status"))

        self.call("start", "7")  # lab 09 stays started, but is no longer the current lab
        self.assertIn("07.1 Do 07.1", self.call("next"))
        self.write("work/07-partition/part.cpp", PARTITION)
        self.call("check", "7")
        self.assertIn("09.1 Do 09.1", self.call("next"))

    def test_a_check_that_does_not_build_changes_the_current_lab(self):
        self.call("start", "9")
        self.call("start", "7")
        self.patch(("lab_tool.verbs.check.build_without_broken",
                    mock.Mock(side_effect=LabError("x"))))
        self.call("check", "9", code=1)
        self.assertIn("09.1 Do 09.1", self.call("next"))

    def test_the_hunt_of_the_current_lab_comes_before_the_next_lab(self):
        self.write("labs/07-partition/bug_hunt.cpp", "buggy")
        self.call("start", "7")
        self.write("work/07-partition/part.cpp", PARTITION)
        self.call("check", "7")
        self.assertIn("check  labs/lab check 07 hunt", self.call("next"))
        self.assertIn("next: 07 hunt, Find the bugs", self.call("status"))

    def test_after_the_current_lab_the_following_labs_come_next(self):
        self.write_lab("14-averaging", "Averaging", ["14.1"])
        self.call("start", "9")
        self.write("work/09-sampler/sampler.cpp", SAMPLER)
        self.call("check", "9")
        self.assertIn("(labs/lab start 14)", self.call("next"))

    def test_who_begins_with_lab_14_is_led_through_the_five_weeks(self):
        for number in ("01", "14", "15"):
            self.write_lab(f"{number}-x", "X", [f"{number}.1"])
            self.write(f"libmini/{number}.cpp", SAMPLER.replace("lab09", f"lab{number}"))
        self.assertIn("start 01; if you know autograd: labs/lab start 14)", self.call("next"))
        self.patch(("lab_tool.verbs.status.status_of", lambda *_: "passed"))
        for number, then in (("14", "07"), ("07", "09"), ("09", "15"), ("15", "01")):
            self.call("start", number)
            self.assertIn(f"(labs/lab start {then}", self.call("next"))

    def test_a_hunt_is_started_checked_and_reset_with_its_lab(self):
        path = "07-partition/bug_hunt.cpp"
        self.write(f"labs/{path}", "buggy")
        self.assertIn(f"hunt   work/{path}  (labs/lab check 07 hunt)", self.call("start", "7"))
        self.assertIn("· hunt  Find the bugs", self.call("check", "7"))
        self.assertIn("not started", self.call("check", "7", "hunt", code=1))
        self.write(f"work/{path}", "repaired")
        self.patch(("lab_tool.hunts.check_hunt",
                    lambda workspace, lab: TaskResult("07.hunt", "passed")))
        self.assertIn("✓ hunt", self.call("check", "7", "hunt"))
        self.assertIn("✓ hunt", self.call("status"))
        self.assertIn(f"back to the starter: work/{path}", self.call("reset", "7", "hunt"))
        self.assertIn("· hunt", self.call("status"))
        self.write(f"work/{path}", "mine")
        (self.root / "work/.lab.json").unlink()
        self.call("start", "7", code=1)  # and it is copied once
        self.assertEqual((self.root / f"work/{path}").read_text(), "mine")
        self.assertIn("lab 09 has no bug hunt", self.call("start", "9") + self.call(
            "reset", "9", "hunt", code=1))

    def test_starting_twice_prints_how_to_reset(self):
        self.call("start", "7")
        self.assertIn("labs/lab reset 07", self.call("start", "7", code=1))
        (self.root / "work/.lab.json").unlink()
        self.assertIn("labs/lab reset 07", self.call("start", "7", code=1))
        self.assertIn("2 of 2 tasks pass", self.call("check", "7"))
        self.write("libmini/other.cpp", PARTITION.replace("lab07.2", "lab07.9"))  # in a newer libmini
        self.assertIn("kept   work/07-partition/part.cpp  (07.1, 07.2)", self.call("start", "7"))

    def test_times_are_noted_from_check_to_check_if_wanted(self):
        clock = mock.Mock(return_value=1000.0)
        self.patch(("time.time", clock))
        self.results["07.1"] = TaskResult("07.1", "failed", "it is wrong")
        self.call("start", "7")
        self.call("check", "7", code=1)
        self.assertEqual(State(self.root).times, {})
        self.call("start", "9", "--times")
        for lab, seconds in (("9", 600), ("7", 900), ("7", 1200), ("7", 3600)):  # the last is a pause
            clock.return_value += seconds
            self.call("check", lab, code=int(lab == "7"))
        self.assertEqual(State(self.root).times, {"09.1": 600, "07.1": 2100, "": 7300})
        self.assertRegex(self.call("status"), r"07.1 .* \(35 min\)\n(.*\n)*.* 09.1 .* \(10 min\)\n")

    def test_a_failure_is_printed_with_its_steps_and_the_hint_command(self):
        self.call("start", "7")
        told = Verdict("sums, and more", "failed", "an expectation did not hold",
                       ["rank 1 got " + "4 " * 80])  # a long step, which is wrapped
        self.results["07.2"] = TaskResult("07.2", "failed", told.reason, [told])
        out = self.call("check", "7", code=1)
        for text in ("✓ 07.1", "✗ 07.2", "case: sums, and more", "rank 1 got 4",
                     "  in a debugger: gdb --args build/release/bin/lab07_check --break 'sums*'\n",
                     "stuck? labs/lab hint 07.2  (3 left)", "1 of 2 tasks pass\n"):
            self.assertIn(text, out)
        self.assertEqual(out.count(" 4"), 80)
        self.assertLessEqual(max(map(len, out.splitlines())), 86)

    def test_a_task_that_is_begun_and_not_complete_names_the_gap(self):
        self.call("start", "7")
        self.results["07.1"] = TaskResult("07.1", "not started", "task 07.1 is not started")
        with mock.patch("lab_tool.workspace.Workspace.gaps", lambda *_: "work/libmini/b.cpp:4"):
            self.assertIn("not started\n           still a gap: work/libmini/b.cpp:4\n",
                          self.call("check", "7.1", code=1))
            told = [Verdict("a case", status) for status in ("passed", "failed")]
            self.results["07.1"] = TaskResult("07.1", "failed", "it is wrong", told)
            self.assertIn("failed\n           1 of 2 cases passed; still a gap: work/libmini/b.cpp"
                          ":4\n", self.call("check", "7.1", code=1))

    def test_a_task_that_passed_does_not_count_while_it_is_a_starter_again(self):
        self.call("start", "7")
        self.call("check", "7")  # check_lab() replaces the check, and returns "passed"
        self.assertIn("[--] 0/2", self.call("status"))

    def test_status_lines_have_at_most_80_columns(self):
        self.call("start", "7")
        self.call("diff", "7.1", "--yes")
        self.write("work/07-partition/part.cpp", PARTITION)
        self.call("check", "7")
        for _ in range(3):
            self.call("hint", "7.1")
        self.results["07.2"] = TaskResult("07.2", "waits", "needs task 07.1 first")
        out = self.call("status") + self.call("check", "7", code=1)
        self.assertIn("passed\n           (3 hints, solution seen)\n", out)
        self.assertIn("waits\n           needs task 07.1 first\n", out)
        self.assertLessEqual(max(map(len, out.splitlines())), 80)

    def test_a_compile_error_shows_the_learners_line(self):
        self.call("start", "7")
        error = CompileError("work/07-partition/part.cpp", 12, "no such name", ("   12 | x",))
        self.results["07.1"] = TaskResult("07.1", "failed", "does not compile", errors=[error])
        self.assertIn("  work/07-partition/part.cpp:12: no such name\n     12 | x",
                      self.call("check", "7.1", code=1))
        self.results["07.2"] = TaskResult("07.2", "failed", "does not compile", errors=[error])
        out = self.call("check", "7", code=1)
        self.assertEqual(out.count("no such name"), 1)
        self.assertIn("07.2 failed for the same reason as 07.1", out)

    def test_checking_a_lab_that_is_not_started_prints_the_start_command(self):
        self.assertIn("lab 07 is not started; run: labs/lab start 07",
                      self.call("check", "7", code=1))
        self.assertIn("no lab is started", self.call("check", code=1))

    def test_a_header_that_would_hide_one_of_the_lab_is_rejected(self):
        self.call("start", "7")
        self.write("labs/07-partition/job.hpp", "")
        self.write("work/07-partition/job.hpp", "")
        self.assertIn("work/07-partition/job.hpp would hide", self.call("check", "7", code=1))

    def test_hints_are_shown_one_at_a_time_until_the_last(self):
        for number, text in enumerate(("Think.", "Look.", "Do.", "Do."), 1):
            out = self.call("hint", "7.1")
            self.assertIn(f"hint {min(number, 3)} of 3\n\n{text}", out)
        self.assertIn("labs/lab diff 07.1", out)

    def test_a_function_that_is_not_written_is_named_with_its_task(self):
        lacks = "work/07-partition/part.cpp does not define cut"
        verdicts = [Verdict("a", "passed"), Verdict("b", "not started", lacks=lacks)]
        self.results["07.1"] = TaskResult("07.1", "not started", lacks, verdicts)
        self.call("start", "7")
        self.write("work/07-partition/part.cpp", "int at(int i) { return i; }\n")
        told = " ".join(self.call("check", "7", code=1).split())
        self.assertIn(f"· 07.1 Do 07.1 not started 1 of 2 cases passed; {lacks} ✓ 07.2", told)
        self.assertIn(f"not started: {lacks}", self.call("grade", "7"))

    def test_grade_takes_the_numbers_of_labs(self):
        self.call("start", "7")
        self.assertNotIn("lab 09", self.call("grade", "7"))
        self.assertIn("lab 09", self.call("grade", "7", "9"))
        self.assertIn("there is no lab 8", self.call("grade", "8", code=1))

    def test_diff_asks_unless_the_task_has_passed_and_notes_that_the_solution_was_seen(self):
        self.call("start", "7")
        with mock.patch("builtins.input", lambda prompt: ""):
            self.assertIn("3 of the hints are unread", self.call("diff", "7.1", code=1))
        self.assertNotIn("return index[i];", self.out)
        self.assertEqual(State(self.root).of("07")["solutions"], [])
        mine = PARTITION.replace("return index[i];", "return 1;")
        for text, passed in ((self.own(), True), ("void cut() {}\n", False), (mine, False)):
            self.write("work/07-partition/part.cpp", text)
            if passed:  # before the region was reset
                state = State(self.root)
                state.of("07")["results"]["07.1"] = "passed"
                state.save()
            else:
                self.results["07.1"] = TaskResult("07.1", "failed", "it is wrong")
                self.call("check", "7.1", code=1)
            with mock.patch("builtins.input", side_effect=EOFError):
                self.assertNotIn("return index[i];", self.call("diff", "7.1", code=130))
            self.assertIn("return index[i];", self.call("diff", "7.1", "--yes"))
        self.assertEqual(State(self.root).of("07")["solutions"], ["07.1"])
        self.results.clear()
        self.call("check", "7.1")
        self.assertIn("+    return index[i];", self.call("diff", "7.1"))

    def test_a_core_is_written_whole_or_guided(self):
        self.write_core()
        path = "work/09-sampler/sampler.cpp"
        self.assertIn(f"write  {path}  (09.1, from an empty file)", self.call("start", "9"))
        self.assertIn("labs/lab reset 09 --guided", self.call("start", "9", "--guided", code=1))
        self.assertNotIn("Interleave", self.call("next"))
        self.assertIn("0 of 5 points", self.call("status"))
        self.assertNotIn("--guided", self.call("hint", "9.1") + self.call("hint", "9.1"))
        self.assertIn("labs/lab reset 09 --guided", self.call("hint", "9.1"))
        self.write(path, CORE.replace("[lab09", "[was"))
        self.assertIn("(0 cases)", self.call("check", "9"))
        self.assertIn("5 of 5 points", self.call("status"))
        self.assertIn("09.1   5 of 5   passed\n", self.call("grade", "9"))

        self.call("reset", "9", "--guided")
        self.assertIn("- Interleave.", self.call("next"))
        self.write(path, CORE)
        self.assertIn("(0 cases, guided: 80 %)", self.call("check", "9"))
        self.assertIn("(3 hints, guided: 80 %)", self.call("status"))
        self.assertIn("4 of 5 points", self.call("status"))
        self.assertIn("09.1   4 of 5   passed: guided: 80 %", self.call("grade", "9"))
        self.assertIn('"score": 4', self.call("grade", "9", "--format", "gradescope"))

    def test_diff_of_a_core_shows_the_whole_file_and_asks_until_all_its_tasks_pass(self):
        self.write_core()
        self.write("libmini/sampler.cpp", CORE.replace("void Sampler::notify() {", """\
void Sampler::notify() {
    // [lab09.2] Notify.
    told();
    // [lab09.2]
"""))
        self.write_lab("09-sampler", "Sampler", ["09.1", "09.2"])
        self.call("start", "9")
        self.assertIn("hidden() { return 1; }", self.call("diff", "9.1", "--yes"))
        self.write("work/09-sampler/sampler.cpp", "int mine;\n")
        self.call("check", "9.1")
        with mock.patch("builtins.input", side_effect=EOFError):
            out = " ".join(self.call("diff", "9.1", code=130).split())
        self.assertNotIn("told", out)
        self.assertIn("solution of 09.2, not passed yet. 09.1 is in a file that is compared whole", out)
        self.assertEqual(State(self.root).of("09")["solutions"], ["09.1", "09.2"])
        self.call("check", "9.2")
        out = self.call("diff", "9.1")
        self.assertIn("-int mine;", out)
        self.assertIn("+    told();", out)

    def test_diff_and_a_reset_tell_what_they_did(self):
        self.call("start", "7")
        self.assertIn("nothing to reset", self.call("reset", "7"))
        self.write("work/07-partition/part.cpp", PARTITION)
        self.assertIn("are the same", self.call("diff", "7.1"))
        self.assertIn("your files as they were", self.call("reset", "7"))
        self.assertIn('MINI_TODO("lab07.1"', self.own())
