"""The command line selects and runs a verb."""

import contextlib
import io
import os
import re
import subprocess
import sys
import unittest
from types import SimpleNamespace
from unittest import mock

from lab_tool import cli
from lab_tool.places import BIN
from lab_tool.screen import LabError
from lab_tool.verbs import demo


def call(*words):
    """Returns the exit code, stdout and stderr of `labs/lab words`."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = cli.main(list(words))
        except SystemExit as exit:  # raised by argparse
            code = exit.code
    return code, out.getvalue(), err.getvalue()


class Verbs(unittest.TestCase):
    def test_help_names_every_verb_which_has_its_own_help(self):
        listing = call("--help")
        self.assertEqual(listing[0], 0)
        for verb in cli.VERBS:
            code, out, _ = call(verb, "--help")
            self.assertIn(f"  {verb} ", listing[1])
            self.assertEqual(code, 0)
            self.assertRegex(out, rf"(?s)^usage: labs/lab {verb}.*\n\n.+\n\n")

    def test_a_missing_verb_shows_the_usage_and_an_unknown_verb_the_list_of_verbs(self):
        code, out, _ = call()
        self.assertEqual(code, 2)
        self.assertIn("usage: labs/lab VERB", out)
        code, out, err = call("xyzzy")
        self.assertEqual((code, out), (2, ""))
        self.assertIn("verbs: " + ", ".join(cli.VERBS), err)

    def test_an_unknown_option_is_a_usage_error(self):
        self.assertEqual(call("test", "--bogus")[0], 2)
        self.assertEqual(call("test", "--preset", "fast")[0], 2)


class Failures(unittest.TestCase):
    def outcome(self, error):
        with mock.patch("lab_tool.verbs.next.run", side_effect=error):
            return call("next")

    def test_a_lab_error_is_one_line_and_exit_code_1(self):
        code, _, err = self.outcome(LabError("the disk is full; make room"))
        self.assertEqual((code, err), (1, "lab: the disk is full; make room\n"))

    def test_an_os_error_is_one_line_with_a_next_step(self):
        code, out, err = self.outcome(OSError(28, "No space left on device", "work/a.cpp"))
        self.assertEqual((code, out), (1, ""))
        self.assertEqual(err, "lab: work/a.cpp: No space left on device; fix that, then run this "
                              "again\n")

    def test_a_closed_pipe_prints_no_error(self):
        readable, writable = os.pipe()
        os.close(readable)
        with os.fdopen(writable, "w") as closed_pipe:
            done = subprocess.run([sys.executable, "labs/lab_tool", "--help"], stdout=closed_pipe,
                                  stderr=subprocess.PIPE, text=True)
        self.assertEqual((done.returncode, done.stderr), (cli.BROKEN_PIPE_EXIT, ""))

    def test_a_terminal_without_unicode_shows_question_marks(self):
        done = subprocess.run([sys.executable, "labs/lab_tool", "status"], capture_output=True,
                              env={**os.environ, "PYTHONIOENCODING": "ascii"})
        self.assertEqual((done.returncode, done.stderr), (0, b""))
        self.assertIn(b"lab 07 ? ", done.stdout)

    def test_ctrl_c_and_ctrl_d_at_a_question_are_one_line_and_exit_code_130(self):
        for error in (KeyboardInterrupt(), EOFError()):
            self.assertEqual(self.outcome(error), (130, "", "lab: stopped\n"))


def ran(*words, started=()):
    """Runs a verb; returns the targets that it builds, the command that it runs, and what it prints."""
    parts = dict.fromkeys(("install_missing", "build", "become", "Workspace"), mock.DEFAULT)
    with mock.patch.multiple(f"lab_tool.verbs.{words[0]}", create=True, **parts) as parts:
        parts["Workspace"]().catalogue.labs = [SimpleNamespace(number=each) for each in started]
        _, out, _ = call(*words)
    return parts["build"].call_args[0][1], parts["become"].call_args[0][0], out


class Demo(unittest.TestCase):
    def test_options_after_two_dashes_are_passed_to_the_program(self):
        _, command, out = ran("demo", "-n", "4", "--epochs", "1", "--", "--lr", "0.05")
        self.assertEqual(command[:3], ["build/release/bin/minirun", "-n", "4"])
        self.assertEqual(command[-2:], ["--lr", "0.05"])
        self.assertNotIn("--", command)
        self.assertIn("--epochs 1", out)

    def test_your_own_code_is_compared_unless_the_program_has_options(self):
        for more, first, programs in (([], demo.BESIDE, ["train_mnist_mine", "train_mnist"]),
                                      (["--", "--lr", "1"], "build/release/bin/minirun", ["train_mnist_mine"])):
            targets, command, _ = ran("demo", "--mine", *more)
            self.assertEqual(command[:3], [first, "-n", "2"])
            self.assertEqual(targets, ["minirun", *programs, "mini"])

    def test_the_users_program_options_replace_the_demos_options(self):
        command = ran("demo", "--mine", "--", "--bucket-cap-mb", "0.0625", "--epochs=1")[1]
        logdir = command.pop(7)
        self.assertRegex(logdir, r"^runs/demo-\d{8}-\d{6}$")
        self.assertEqual(command[3:], ["build/release/bin/train_mnist_mine", "--sync", "ddp",
                                       "--logdir", "--plain", "--bucket-cap-mb", "0.0625",
                                       "--epochs=1"])

    def test_the_newest_of_the_learners_labs_averages_and_unused_labs_are_named(self):
        for started, sync, unused in ((["14"], "average", []), (["09", "14", "15"], "overlap", ["14"]),
                                      (["07", "18"], "ddp", ["07", "18"]), (["14", "16"], "ddp", ["14"])):
            _, command, out = ran("demo", "--mine", started=started)
            self.assertEqual(command[command.index("--sync") + 1], sync)
            self.assertEqual(re.findall(r"your lab (\d+) run here: labs/lab demo --mine -- --", out), unused)


class Mini(unittest.TestCase):
    def test_with_mine_the_program_with_the_learners_code_is_built_and_run(self):
        words = ["indices", "partition", "--len", "10"]
        for mine, program, more in (([], "mini", words), (["--mine"], "mini_mine", words),
                                    ([], "mini", ["bench", "--help"])):
            self.assertEqual(ran("mini", *mine, *more), ([program], [str(BIN / program), *more], ""))
