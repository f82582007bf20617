"""The programs in a pipe and in a terminal of 80 columns: width, colours, progress, errors.

    MINI_BIN_DIR=build/release/bin python3 -m unittest tests/tools/terminal_test.py
"""

import errno
import fcntl
import os
import pty
import re
import struct
import subprocess
import sys
import tempfile
import termios
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(os.environ.get("MINI_BIN_DIR", "build/release/bin")).resolve()
MINI, MINIRUN, TRAIN = (str(BIN / name) for name in ("mini", "minirun", "train_mnist"))
LAB = str(ROOT / "labs/lab")
MEASURE = sorted(str(path) for path in (ROOT / "labs").glob("*/measure.py"))

COLUMNS = 80
STEPS = ("--data", "digits", "--steps", "40", "--batch-size", "64")
COLOUR = re.compile(r"\033\[\d+m")


def environment(**variables):
    unset = ("NO_COLOR", "COLUMNS", "LINES", "MINI_PROGRESS", "RANK", "WORLD_SIZE")
    clean = {name: value for name, value in os.environ.items() if name not in unset}
    return {**clean, "TERM": "xterm", **variables}


def in_pipe(*command, **variables):
    return subprocess.run(command, capture_output=True, text=True, cwd=ROOT, timeout=100,
                          env=environment(**variables))


def in_terminal(*command, **variables):
    """Returns the text that the command writes to a terminal, which ends lines with CR LF."""
    ours, theirs = pty.openpty()
    fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, COLUMNS, 0, 0))
    with subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=theirs, stderr=theirs, cwd=ROOT,
                          env=environment(**variables)) as process:
        os.close(theirs)
        pieces = []
        while True:
            try:
                piece = os.read(ours, 65536)
            except OSError as error:
                if error.errno != errno.EIO:  # EIO: all writers have ended
                    raise
                break
            pieces.append(piece)
    os.close(ours)
    if process.returncode:
        raise AssertionError(b"".join(pieces))
    return b"".join(pieces).decode()


def commands_of(program, *before):
    """Yields the words of each command of `program`, which its help lists."""
    command = [program, *before]
    yield command
    listed = in_pipe(*command, "--help").stdout.partition("ubcommands:\n")[2]
    for word in re.findall(r"^  ([\w-]+)", listed, re.M):
        yield from commands_of(*command, word)


class Help(unittest.TestCase):
    def check(self, *command):
        done = in_pipe(*command, "--help")
        self.assertEqual((done.returncode, done.stderr), (0, ""), command)
        self.assertIn("sage: ", done.stdout, command)
        self.assertNotRegex(done.stdout, "[\033\r]")
        for line in done.stdout.splitlines():
            self.assertLessEqual(len(line), COLUMNS, (command, line))
        return done.stdout

    def test_programs(self):
        commands = [*commands_of(MINI), [MINIRUN], [TRAIN]]
        self.assertGreater(len(commands), 10)  # 13 without extras
        for command in commands:
            self.check(*command)

    def test_lab_and_its_verbs(self):
        listed = in_pipe(LAB, "--help").stdout.partition("verbs:\n")[2]
        verbs = re.findall(r"^  (\w+)", listed, re.M)
        self.assertIn("status", verbs)
        for command in ([], *([verb] for verb in verbs)):
            self.check(LAB, *command)

    def test_the_scripts_of_the_labs(self):
        self.assertGreater(len(MEASURE), 15)
        for script in MEASURE:
            self.check(sys.executable, script)

    def test_a_terminal_gets_the_same_text_as_a_pipe(self):
        for command in ((MINI, "bench", "allreduce"), (MINIRUN,), (TRAIN,), (LAB, "check")):
            shown = in_terminal(*command, "--help", NO_COLOR="1")  # Python 3.14 has colours in a help text
            self.assertEqual(shown.replace("\r\n", "\n"), self.check(*command))


class Colours(unittest.TestCase):
    COMMANDS = ((MINIRUN, "-n", "2", "echo", "hello"),)
    LAB_REPORT = (sys.executable, "-c", "import sys; sys.path.insert(0, 'labs'); "
                  "from lab_tool import report; print(report.coloured('07.1', 'passed'))")

    def test_a_terminal_gets_colours(self):
        for command in (*self.COMMANDS, self.LAB_REPORT):
            self.assertRegex(in_terminal(*command), COLOUR)
        for command in self.COMMANDS:
            self.assertRegex(in_terminal(*command, NO_COLOR=""), COLOUR)

    def test_no_color_and_dumb_terminals_get_none(self):
        outputs = [in_terminal(*command, TERM="dumb") for command in self.COMMANDS]
        outputs += [in_terminal(*command, NO_COLOR="1")
                    for command in (*self.COMMANDS, self.LAB_REPORT)]
        for text in outputs:
            self.assertNotIn("\033", text)
            self.assertNotIn("\r", text.replace("\r\n", ""))

    def test_a_pipe_gets_none(self):
        for command in self.COMMANDS:
            done = in_pipe(*command)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(done.stdout + done.stderr, "[\033\r]")


class Progress(unittest.TestCase):
    def test_a_pipe_gets_a_line_for_every_tenth(self):
        for launcher in ([], [MINIRUN, "-n", "2"]):
            done = in_pipe(*launcher, TRAIN, *STEPS)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertNotRegex(done.stdout + done.stderr, "[\033\r]")
            progress = [line for line in done.stderr.splitlines() if "/40 [" in line]
            self.assertEqual(len(progress), 10, done.stderr)

    def test_a_terminal_gets_one_line_that_is_redrawn(self):
        for launcher in ([], [MINIRUN, "-n", "2"]):
            text = in_terminal(*launcher, TRAIN, *STEPS, OMP_NUM_THREADS="1")
            drawn = [line for line in re.split(r"[\r\n]", text) if "/40 [" in line]
            self.assertGreater(text.count("\r") - text.count("\r\n"), 0)
            self.assertTrue(drawn)
            for line in drawn:
                self.assertLessEqual(len(line), COLUMNS, line)


class Errors(unittest.TestCase):
    def test_a_usage_error_is_one_line_on_stderr_and_exit_code_2(self):
        for command in ((MINI, "doctr"), (MINIRUN, "-n", "0", "true"), (TRAIN, "--epochs", "0"),
                        (LAB, "doctr")):
            done = in_pipe(*command)
            self.assertEqual((done.returncode, done.stdout), (2, ""), command)
            self.assertEqual(done.stderr.count("\n"), 1, done.stderr)

    def test_a_script_shows_the_messages_of_a_program_that_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            program = Path(folder, "strided_loops")
            program.write_text("#!/bin/sh\necho no memory >&2; exit 3\n")
            program.chmod(0o755)
            done = in_pipe(sys.executable, MEASURE[0], "--bin", folder)
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, f"no memory\n{program} ended with exit code 3\n")

    def test_a_script_names_the_program_that_is_not_built(self):
        done = in_pipe(sys.executable, MEASURE[0], "--bin", "none/bin")
        self.assertEqual((done.returncode, done.stdout), (1, ""))
        self.assertEqual(done.stderr, "none/bin/strided_loops is not there: build it with\n"
                                      "  cmake --preset none; cmake --build none --target "
                                      "strided_loops\n")
