"""Running other programs."""

import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from lab_tool import process
from lab_tool.screen import LabError


def sh(script):
    return ["sh", "-c", script]


class Logged(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.log = Path(folder.name) / "step.log"

    def test_each_line_of_both_streams_is_seen_and_logged_even_if_it_is_not_utf_8(self):
        lines = []
        self.assertEqual(process.run_logged(sh(r"echo a; echo b >&2; printf 'c\377'"), self.log,
                                            lines.append), 0)
        self.assertEqual(lines, ["a", "b", "c\ufffd"])
        self.assertTrue(self.log.read_text().endswith("a\nb\nc\ufffd"))

    def test_a_program_that_is_not_installed_is_named(self):
        with self.assertRaisesRegex(LabError, "no-such-program is not installed; run: labs/lab"):
            process.run_logged(["no-such-program"], self.log)


class Become(unittest.TestCase):
    def test_the_command_replaces_the_process(self):
        script = "from lab_tool import process; print('first'); process.become(['pwd', '-P'], '/')"
        done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True,
                              check=True)
        self.assertEqual(done.stdout, "first\n/\n")


class Output(unittest.TestCase):
    def test_the_output_of_a_missing_or_failing_command_is_none(self):
        self.assertEqual(process.output_of(sh("echo yes")), "yes\n")
        self.assertIsNone(process.output_of(sh("echo no; exit 1")))
        self.assertIsNone(process.output_of(["no-such-command"]))
