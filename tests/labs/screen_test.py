"""The progress line, on a terminal and in a log."""

import contextlib
import io
import os
import pty
import unittest
from unittest import mock

from lab_tool.screen import ProgressLine


class Plain(unittest.TestCase):
    def test_a_log_gets_one_line_per_10_percent(self):
        out = io.StringIO()
        with ProgressLine("building", out) as progress:
            for done in range(1, 96):
                progress.show(done, 95, "a.cpp")
        lines = out.getvalue().splitlines()
        self.assertEqual(len(lines), 10)
        self.assertEqual((lines[0], lines[-1]), ("building 10% (10 of 95)", "building 100% (95 of 95)"))

    def test_few_steps_give_few_lines_and_zero_steps_give_no_line(self):
        out = io.StringIO()
        with ProgressLine("building", out) as progress:
            progress.show(0, 0)
            for done in (1, 2, 3):
                progress.show(done, 3)
        self.assertEqual(len(out.getvalue().splitlines()), 3)


class Terminal(unittest.TestCase):
    def drawn(self, draw):
        """Returns the text that `draw` writes to a terminal of 40 columns."""
        ours, theirs = pty.openpty()
        with open(ours, "rb", buffering=0) as screen:
            with open(theirs, "w") as stream, \
                    mock.patch.dict(os.environ, {"TERM": "xterm"}), \
                    mock.patch("os.get_terminal_size", return_value=os.terminal_size((40, 24))):
                with ProgressLine("building", stream) as progress:
                    draw(progress)
            return self.everything(screen).decode()

    def everything(self, screen):
        """Reads all output, in pieces, from a terminal whose other end is closed."""
        pieces = []
        with contextlib.suppress(OSError):  # at the end
            while piece := screen.read(65536):
                pieces.append(piece)
        return b"".join(pieces)

    def test_the_line_is_redrawn_in_place_and_removed_at_the_end(self):
        text = self.drawn(lambda progress: progress.show(12, 80, "ops.cpp"))
        self.assertEqual(text, "building ...\r\033[Kbuilding 12/80 ops.cpp\r\033[K")

    def test_the_line_never_wraps(self):
        text = self.drawn(lambda progress: progress.show(1, 2, "x" * 200))
        self.assertLess(max(map(len, text.split("\r\033[K"))), 40)
