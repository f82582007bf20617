"""Output for the user: messages, and a line with the progress of a long step.

On a terminal the progress line is redrawn in place; in a file or a pipe a new line is printed after
every tenth of the step, so that logs stay readable."""

import os
import sys


class LabError(Exception):
    """An error for the user: one line with the problem and the next step."""


def say(message="", file=None):
    print(message, file=file or sys.stdout, flush=True)


def is_terminal(stream):
    return stream.isatty() and os.environ.get("TERM", "dumb") != "dumb"


def has_colours(stream):
    """Returns whether the stream is a terminal and NO_COLOR is unset or empty (no-color.org)."""
    return is_terminal(stream) and not os.environ.get("NO_COLOR")


class ProgressLine:
    def __init__(self, label, stream=None):
        self.label = label
        self.stream = stream or sys.stdout
        self.redraws = is_terminal(self.stream)
        self.tenths = 0

    def __enter__(self):
        if self.redraws and self.label:
            self.stream.write(f"{self.label} ...")
            self.stream.flush()
        return self

    def __exit__(self, *exception):
        if self.redraws:
            self.stream.write("\r\033[K")
            self.stream.flush()

    def show(self, done, total, what=""):
        """Shows that `done` of `total` parts are done; `what` is the last part."""
        if total <= 0:
            return
        if self.redraws:
            columns = os.get_terminal_size(self.stream.fileno()).columns or 80
            text = f"{self.label} {done:>{len(str(total))}}/{total} {what}"
            self.stream.write("\r\033[K" + text[:columns - 1])
            self.stream.flush()
            return
        tenths = 10 * done // total
        if tenths > self.tenths:
            self.tenths = tenths
            say(f"{self.label} {10 * tenths}% ({done} of {total})", self.stream)
