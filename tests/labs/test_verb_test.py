"""`labs/lab test`: the lines of ctest that it prints, its commands and its exit codes."""

import unittest
from argparse import Namespace
from unittest import mock

from lab_tool.screen import ProgressLine
from lab_tool.verbs import test as verb

OUTPUT = """\
Test project /tmp/build/release
      Start   1: core: a
  1/3 Test   #1: core: a ........................   Passed    0.01 sec
      Start   2: core: [b] fails
  2/3 Test   #2: core: [b] fails ................***Failed    0.02 sec
/src/tests/core/b_test.cpp:12: FAILED:
  CHECK( 1 == 2 )

      Start   3: dist: Passed or not
  3/3 Test   #3: dist: Passed or not ............   Passed   12.00 sec

67% tests passed, 1 tests failed out of 3

Total Test time (real) =  12.03 sec
"""


class Filter(unittest.TestCase):
    def setUp(self):
        self.progress = mock.create_autospec(ProgressLine, instance=True)
        for line in OUTPUT.splitlines():
            verb.show(line, self.progress)
        self.passed_on = [call.args[0] for call in self.progress.pass_on.call_args_list]

    def test_passing_tests_are_only_counted(self):
        self.assertEqual(self.progress.show.call_args_list,
                         [mock.call(1, 3, "core: a"), mock.call(3, 3, "dist: Passed or not")])
        self.assertFalse([line for line in self.passed_on if "Passed   " in line])

    def test_failing_tests_are_shown_with_their_output(self):
        self.assertIn("***Failed", self.passed_on[0])
        self.assertEqual(self.passed_on[2], "  CHECK( 1 == 2 )")

    def test_the_summary_of_ctest_is_printed_last(self):
        self.assertEqual(self.passed_on[-2:], ["67% tests passed, 1 tests failed out of 3",
                                               "Total Test time (real) =  12.03 sec"])


class Command(unittest.TestCase):
    def test_options_select_tests(self):
        options = Namespace(preset="tsan", L="unit", R=None, j=2, ctest_options=["--repeat", "x"])
        command = verb.command_for(options)
        self.assertEqual(command[:3], ["ctest", "--preset", "tsan"])
        self.assertIn("--output-junit", command)
        self.assertEqual(command[-4:], ["-L", "unit", "--repeat", "x"])

    def test_only_the_targets_that_a_label_needs_are_built(self):
        self.assertEqual(verb.targets_for(Namespace(L="unit")), ("unit_tests",))
        self.assertEqual(verb.targets_for(Namespace(L="threads")), ("thread_tests",))
        self.assertEqual(verb.targets_for(Namespace(L="unit|processes")), ("unit_tests",))
        self.assertEqual(verb.targets_for(Namespace(L="unit|threads")), ("unit_tests", "thread_tests"))
        self.assertEqual(verb.targets_for(Namespace(L="unit|e2e")), ())
        self.assertEqual(verb.targets_for(Namespace(L="e2e")), ())
        self.assertEqual(verb.targets_for(Namespace(L=None)), ())

    def test_the_exit_code_of_ctest_is_returned(self):
        options = Namespace(preset="release", L=None, R=None, j=2, ctest_options=[])
        with mock.patch.multiple(verb, install_missing=mock.DEFAULT, build=mock.DEFAULT,
                                 say=mock.DEFAULT, fresh_log=mock.Mock(return_value="/dev/null"),
                                 run_logged=mock.Mock(return_value=8)):
            self.assertEqual(verb.run(options), 8)


if __name__ == "__main__":
    unittest.main()
