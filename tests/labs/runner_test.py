"""The watchdog always returns, and reports how the process of a case ended."""

import os
import select
import signal
import sys
import unittest

from lab_tool.runner import KEPT, Limits, case_environment, run_case

QUICK = Limits(seconds=1.0, output_bytes=1 << 20)
STARTED = Limits(seconds=5.0, output_bytes=1 << 20)  # enough for Python to start
PATIENT = Limits(seconds=60.0, output_bytes=1 << 20)


def python(script, limits=PATIENT):
    return run_case([sys.executable, "-c", script], limits)


def sh(script, limits=PATIENT):
    return run_case(["sh", "-c", script], limits)


def ends(pid):
    """Waits for a process to end; returns False if it still runs after PATIENT.seconds."""
    try:
        process = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    try:
        return bool(select.select([process], [], [], PATIENT.seconds)[0])
    finally:
        os.close(process)


class Ends(unittest.TestCase):
    def test_a_process_that_succeeds(self):
        ended = sh("echo out; echo err >&2")
        self.assertEqual((ended.code, ended.killed_for, ended.output), (0, "", "out\nerr\n"))

    def test_an_exit_code_and_a_signal(self):
        self.assertEqual(python("import os; os._exit(3)").code, 3)
        self.assertEqual(sh("kill -SEGV $$").code, -signal.SIGSEGV)

    def test_an_endless_loop_is_killed(self):
        self.assertEqual(python("while True: pass", QUICK).killed_for, "time")

    def test_a_process_that_closes_its_output_and_continues_is_killed(self):
        ended = python("import os, time\nos.close(1); os.close(2)\ntime.sleep(1000)", QUICK)
        self.assertEqual(ended.killed_for, "time")

    def test_endless_output_is_truncated_and_its_beginning_and_end_are_kept(self):
        ended = python("print('first')\nwhile True: print('x' * 1000)")
        self.assertEqual(ended.killed_for, "output")
        self.assertTrue(ended.output.startswith("first\n"))
        self.assertIn("bytes left out", ended.output)
        self.assertLess(len(ended.output), 3 * KEPT)

    def test_output_below_the_limit_is_allowed(self):
        ended = python("print('x' * (1 << 19))")
        self.assertEqual((ended.killed_for, ended.code), ("", 0))

    def test_remaining_child_processes_are_killed_without_waiting(self):
        ended = sh("sleep 1000 & echo $!")
        self.assertEqual(ended.killed_for, "")
        self.assertLess(ended.seconds, PATIENT.seconds)
        self.assertTrue(ends(int(ended.output)))

    def test_a_process_that_ignores_sigterm_is_killed(self):
        self.assertEqual(sh("trap '' TERM INT; while :; do sleep 1; done", QUICK).killed_for, "time")


class Stacks(unittest.TestCase):
    def test_a_process_that_hangs_prints_the_stack_of_each_thread(self):
        ended = python("import os, signal\n"
                       "signal.signal(signal.SIGUSR2, lambda *_: os.write(2, b'== stack of rank 3"
                       "\\n== end of stack\\n'))\nwhile True: signal.pause()", STARTED)
        self.assertEqual(ended.stacks, ["== stack of rank 3\n== end of stack\n"])

    def test_a_process_without_a_handler_for_the_signal_has_no_stack(self):
        ended = sh("sleep 1000", QUICK)
        self.assertEqual((ended.killed_for, ended.stacks), ("time", [""]))


class Environment(unittest.TestCase):
    def test_environment_variables_of_dev_check_are_not_passed_to_a_learners_check(self):
        os.environ["MINI_STUB"] = "lab07.1"
        self.addCleanup(os.environ.pop, "MINI_STUB")
        self.assertNotIn("MINI_STUB", case_environment())
        self.assertEqual(case_environment(MINI_STUB="lab07.2")["MINI_STUB"], "lab07.2")
