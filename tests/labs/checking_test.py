"""A lab's tasks are checked by running its check program: here a script with Catch2's options."""

import sys
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from author_tool import dev_check
from fake_tree import TWICE, FakeTree
from lab_tool import building, checking
from lab_tool.checking import check_tasks, judge_task
from lab_tool.compile_errors import broken_files, errors_in
from lab_tool.runner import STOP, Limits, run_case
from lab_tool.verdict import Verdict

PROGRAM = """\
#!{python} -IS
import os, re, sys, time
CASES = {{"good": "07.1", "good too": "07.1", "stub": "07.2", "later": "07.3",
         "leaves": "07.4", "fails": "07.4", "loops": "07.5", "after": "07.5", "odd, name": "07.6"}}
if sys.argv[1] == "--list-test-names-only":
    names = [name for name, task in CASES.items() if sys.argv[2] == f"[lab{{task}}]"]
    print("\\n".join(names))
    sys.exit(len(names))
failures = 0
with open(sys.argv[5], "w") as file:
    file.write("<Catch>")
    for name in re.split(r"(?<!\\\\),", sys.argv[1]):
        name = name.replace("\\\\", "")
        inside, success = "", "true"
        file.write(f'<TestCase name="{{name}}">')
        file.flush()
        if name == "loops":
            while True: time.sleep(1)
        if name == "leaves" or name == "after" and sys.argv[1] == "good,after":
            os._exit(0)
        if name in ("stub", "later"):
            inside, success = "<Exception>[lab07.2] not started: Do.</Exception>", "false"
        if name == "fails":
            success = "false"
        file.write(f'{{inside}}<OverallResult success="{{success}}"/></TestCase>')
        failures += success == "false"
        if failures and "--abort" in sys.argv:
            break
    file.write("</Catch>")
if not failures and "MINI_TOKEN" in os.environ:
    os.write(int(os.environ["MINI_TOKEN"]), os.read(int(os.environ["MINI_TOKEN"]), 32))
sys.exit(failures)
"""


class Tasks(FakeTree):
    def setUp(self):
        super().setUp()
        self.program = self.write_program("lab07_check", PROGRAM.format(python=sys.executable))

    def results(self, *tasks, limits=Limits(), **more):
        return check_tasks("07", list(tasks), self.program, limits, **more)

    def test_each_task_has_a_status_and_a_crashing_task_does_not_stop_the_others(self):
        heard = []
        results = self.results("07.4", "07.1", "07.2", "07.3", "07.9", "07.6",
                               on_task=lambda result: heard.append(result.task))
        self.assertEqual({result.task: result.status for result in results},
                         {"07.1": "passed", "07.2": "not started", "07.3": "waits",
                          "07.4": "failed", "07.9": "failed", "07.6": "passed"})
        self.assertEqual(heard, [result.task for result in results])
        self.assertIn("exited with code 0", results[0].reason)
        self.assertEqual(results[3].reason, "needs task 07.2 first")
        self.assertEqual(results[4].reason, "it has no checks")

    def test_an_endless_loop_ends_after_one_deadline_and_does_not_delay_other_tasks(self):
        late, good = self.results("07.5", "07.1", limits=Limits(seconds=5.0))
        self.assertEqual((late.status, good.status), ("failed", "passed"))
        self.assertIn("did not end within 5 s", late.reason)

    def test_after_a_case_that_times_out_the_other_cases_of_its_task_are_not_run(self):
        late = []
        for name in ("loops", "good"):
            last = checking.check_unless(late, self.program, name, Limits(seconds=1.0))
        self.assertEqual((late, last.status), (["loops"], "failed"))
        self.assertIn("was not run after 'loops'", last.reason)

    def test_a_task_with_a_known_result_is_not_run(self):
        workspace = self.workspace()
        workspace.start("07")
        regions = workspace.catalogue.regions_of(task="07.1")
        known = checking.known_failures(regions, workspace, {"07-partition/part.cpp": []})
        results = self.results("07.1", "07.6", known=known)
        self.assertEqual([result.status for result in results], ["failed", "passed"])
        self.assertIn("work/07-partition/part.cpp does not compile", results[0].reason)
        errors = errors_in(UNDEFINED, "/src")
        known = checking.known_failures(regions, workspace, {"07-partition/part.cpp": errors})
        self.assertEqual(known["07.1"].reason, "work/07-partition/part.cpp does not link")

    def test_a_program_that_cannot_list_its_cases_fails_every_task(self):
        self.program.write_text("#!/bin/sh\necho boom >&2\nexit 134\n")
        for result in self.results("07.1", "07.2"):
            self.assertIn("ended before a check could run", result.reason)

    def test_cases_have_the_same_verdicts_together_as_alone(self):
        verdicts = dev_check.check_together(self.program, ["good", "stub"])
        self.assertEqual([(each.name, each.status) for each in verdicts],
                         [("good", "passed"), ("stub", "not started")])

    def first_failure(self, *names, seconds=8.0):
        limits = Limits(seconds=seconds)
        verdict = dev_check.first_failure(self.program, names, lambda names: limits)
        return verdict and (verdict.name, verdict.late)

    def test_the_first_failure_of_several_cases(self):
        self.assertEqual(self.first_failure("good", "fails", "leaves"), ("fails", False))
        self.assertEqual(self.first_failure("good", "leaves", "fails"), ("leaves", False))
        self.assertEqual(self.first_failure("good", "loops", "fails", seconds=2.0),
                         ("loops", True))
        self.assertIsNone(self.first_failure("good", "odd, name"))

    def test_only_a_first_case_that_fails_is_not_run_again(self):
        for names, runs in ((["fails", "good"], 1), (["good", "fails"], 2), (["leaves"], 2)):
            run = mock.Mock(wraps=checking.run_cases)
            with mock.patch.object(checking, "run_cases", run):
                self.first_failure(*names)
            self.assertEqual(run.call_count, runs, names)

    def test_a_case_that_fails_only_together_with_others_does_not_count(self):
        self.assertIsNone(self.first_failure("good", "after"))
        self.assertEqual(self.first_failure("stub", "fails"), ("fails", False))

    def test_an_untouched_task_that_waits_is_not_started(self):
        workspace = self.workspace()
        workspace.start("07")
        heard = []
        hear = checking.heard_by(lambda result: heard.append(result.status), workspace)
        hear(checking.TaskResult("07.2", "waits", "needs task 07.1 first"))
        self.write("work/07-partition/part.cpp", (self.root / "libmini/part.cpp").read_text())
        hear(checking.TaskResult("07.2", "waits", "needs task 07.1 first"))
        self.assertEqual(heard, ["not started", "waits"])

    def test_a_task_with_gaps_fails_if_a_case_fails_that_needs_no_gap(self):
        self.write("libmini/part.cpp", TWICE)
        workspace = self.workspace()
        workspace.start("07")
        stub = Verdict("a", "not started", waits_for="07.1")
        failed = Verdict("b", "failed", "it is wrong")
        heard = []

        def hear(*verdicts):
            result = checking.TaskResult("07.1", "not started", verdicts=list(verdicts))
            checking.heard_by(heard.append, workspace)(result)
            return result.status, result.reason

        self.assertEqual(hear(stub, failed), ("not started", ""))  # no region is written
        begun = self.own().replace('MINI_TODO("lab07.1", "Look the place up.");', "return 1;")
        self.write("work/07-partition/part.cpp", begun)
        self.assertEqual(hear(stub, failed), ("failed", "it is wrong"))
        self.assertEqual(hear(stub), ("not started", ""))
        self.assertEqual(len(heard), 3)


class JudgeTask(unittest.TestCase):
    def test_its_own_stub_outweighs_failures_and_failures_outweigh_other_stubs(self):
        failed = Verdict("a", "failed", "it is wrong")
        own, other = (Verdict("b", "not started", waits_for=task) for task in ("07.2", "07.1"))
        self.assertEqual(judge_task("07.2", ["a", "b"], [failed, own]).status, "not started")
        self.assertEqual(judge_task("07.2", ["a", "b"], [failed, other]).status, "failed")
        self.assertEqual(judge_task("07.2", ["b"], [other]).status, "waits")

    def test_a_task_lacks_a_function_of_its_file_and_waits_for_one_of_another(self):
        lacks = Verdict("a", "not started", waits_for="07.1,07.2", lacks="work/a.cpp lacks cut")
        for task, status in (("07.1", "not started"), ("07.2", "not started"), ("07.3", "waits")):
            result = judge_task(task, ["a"], [lacks])
            self.assertEqual((result.status, result.reason), (status, "work/a.cpp lacks cut"))


class Stop(FakeTree):
    def test_ctrl_c_ends_running_cases_and_starts_no_others(self):
        self.addCleanup(STOP.clear)
        begun, results = [], []

        def run(number):
            begun.append(number)
            results.append(run_case(["sleep", "60"], Limits(seconds=50.0)).killed_for)

        with self.assertRaises(KeyboardInterrupt), checking.pool_of_cases() as pool:
            for number in range(2 * checking.workers()):
                pool.submit(run, number)
            raise KeyboardInterrupt
        self.assertLessEqual(len(begun), checking.workers())
        self.assertEqual(results, ["stop"] * len(begun))


NINJA = """\
[1/4] Building CXX object labs/CMakeFiles/mini_check07_data.dir/__/build/mine/07/libmini/data/part.cpp.o
FAILED: labs/CMakeFiles/mini_check07_data.dir/__/build/mine/07/libmini/data/part.cpp.o
/usr/bin/c++ -c ../mine/07/libmini/data/part.cpp
In file included from ../../work/07-partition/part.cpp:1:
/src/libmini/core/error.hpp:9:3: error: late
../../work/07-partition/part.cpp: In function 'void cut()':
../../work/07-partition/part.cpp:12:5: error: 'indx' was not declared in this scope
   12 |     indx = 3;
      |     ^~~~
../../work/07-partition/part.cpp:12:5: error: 'indx' was not declared in this scope
ld: undefined reference to `mini::cut()'
""".split("\n")


DEFINED_TWICE = """\
FAILED: bin/lab07_check
/usr/bin/ld: a/mini_work.dir/__/work/07-partition/part.cpp.o: in function `mini::cut()':
/src/build/debug/../../work/07-partition/part.cpp:34: multiple definition of `mini::cut()'; \
a/mini_work.dir/__/work/07-partition/part_(copy).cpp.o:/src/build/debug/../../work/07-partition/\
part (copy).cpp:34: first defined here
""".split("\n")


UNDEFINED = """\
FAILED: bin/lab16_check
/usr/bin/ld: a/mini_work.dir/__/work/16-bucketed-ddp/reducer.cpp.o: in function `mini::order()':
/src/build/debug/../../work/16-bucketed-ddp/reducer.cpp:117: undefined reference to \
`mini::Tensor mini::cut<unsigned long>()'
collect2: error: ld returned 1 exit status
""".split("\n")


# A duplicate and an undefined function, as other linkers report them.
LLD = """\
ld.lld: error: duplicate symbol: mini::cut()
>>> defined at own.cpp:12 (work/07-partition/own.cpp:12)
>>>            labs/CMakeFiles/mini_check07_data.dir/__/build/mine/07/libmini/data/own.cpp.o:(mini::cut())
>>> defined at part.cpp:34 (work/07-partition/part.cpp:34)
>>>            labs/CMakeFiles/mini_check07_data.dir/__/build/mine/07/libmini/data/part.cpp.o:(.text+0x0)
ld.lld: error: undefined symbol: mini::deal(int)
>>> referenced by test.cpp:9 (/src/labs/07-partition/test.cpp:9)
>>>               labs/07-partition/CMakeFiles/lab07_tests.dir/test.cpp.o:(main)
>>> referenced by part.cpp:40 (work/07-partition/part.cpp:40)
>>>               labs/CMakeFiles/mini_check07_data.dir/__/build/mine/07/libmini/data/part.cpp.o:(cut())
collect2: error: ld returned 1 exit status
""".split("\n")

MOLD = """\
mold: error: undefined symbol: mini::deal(int)
>>> referenced by part.cpp
>>>               labs/CMakeFiles/mini_check07_data.dir/__/build/mine/07/libmini/data/part.cpp.o:(cut())
""".split("\n")

GNU = """\
/usr/bin/ld: a.dir/__/build/mine/07/libmini/part.cpp.o: in function `cut()':
/src/build/release/../mine/07/libmini/part.cpp:40: undefined reference to `mini::deal(int)'
""".split("\n")


class CompileErrors(unittest.TestCase):
    def test_the_learners_file_and_line_come_first(self):
        errors = errors_in(NINJA, "/src")
        self.assertEqual(errors[0].spelled()[0],
                         "work/07-partition/part.cpp:12: 'indx' was not declared in this scope")
        self.assertEqual(errors[0].spelled()[1], "   12 |     indx = 3;")
        self.assertEqual([error.path for error in errors],
                         ["work/07-partition/part.cpp", "libmini/core/error.hpp", ""])

    def test_a_duplicate_function_is_reported_with_both_files(self):
        with mock.patch.object(Path, "rglob", lambda _, name: [1] * (name == "part.cpp")):
            errors = errors_in(DEFINED_TWICE, "/src")
        self.assertEqual([error.spelled() for error in errors],
                         [["work/07-partition/part (copy).cpp:34: multiple definition of "
                           "`mini::cut()', as in work/07-partition/part.cpp:34"]])

    def test_every_linkers_errors_have_the_learners_file_and_line_if_the_linker_knows_them(self):
        twice, undefined = "multiple definition of `mini::cut()'", \
            "undefined reference to `mini::deal(int)'"
        for lines, told in (
                (LLD, [f"work/07-partition/own.cpp:12: {twice}, as in work/07-partition/part.cpp:34",
                       f"work/07-partition/part.cpp:40: {undefined}"]),
                (MOLD, [f"work/07-partition/part.cpp: {undefined}"]),
                (UNDEFINED, ["work/16-bucketed-ddp/reducer.cpp:117: undefined reference to "
                             "`mini::Tensor mini::cut<unsigned long>()'"]),
                (GNU, [f"work/07-partition/part.cpp:40: {undefined}"])):
            with mock.patch("lab_tool.compile_errors.own_name", lambda *_: "07-partition/part.cpp"):
                self.assertEqual([error.spelled()[0] for error in errors_in(lines, "/src")], told)

    def test_errors_of_nvcc_have_a_file_and_a_line(self):
        errors = errors_in(["/src/work/06-kernels/a.cu(34): error: identifier \"x\" is undefined"],
                           "/src")
        self.assertEqual(errors[0].spelled(),
                         ["work/06-kernels/a.cu:34: identifier \"x\" is undefined"])

    def test_the_file_that_failed_to_compile_is_found(self):
        with tempfile.TemporaryDirectory() as folder:
            own = Path(folder) / "build/mine/07/libmini/data/part.cpp"
            own.parent.mkdir(parents=True)
            own.write_text('#include "/src/work/07-partition/part.cpp"\n')
            later = [line.replace("FAILED: ", "FAILED: [code=1] ") for line in NINJA]  # Ninja 1.13
            for lines in (NINJA, later):
                self.assertEqual(broken_files(lines, folder), ["07-partition/part.cpp"])
