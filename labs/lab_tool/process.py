"""Runs other programs: with their output in a log, or in place of this one."""

import os
import shlex
import subprocess
import sys

from lab_tool.screen import LabError


def spell(command):
    """Returns the command as the user would type it."""
    return " ".join(shlex.quote(str(word)) for word in command)


def run_logged(command, log_path, on_line=lambda line: None, cwd=None):
    """Appends a command's output to a log, and calls on_line with each line; returns its code."""
    with open(log_path, "a", encoding="utf-8", errors="replace") as log:
        log.write(f"$ {spell(command)}\n")
        log.flush()
        try:
            process = subprocess.Popen(command, cwd=cwd, stdin=subprocess.DEVNULL, text=True,
                                       stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                                       errors="replace")
        except FileNotFoundError:
            raise LabError(f"{command[0]} is not installed; run: labs/lab setup") from None
        with process:
            try:
                for line in process.stdout:
                    log.write(line)
                    on_line(line.rstrip("\n"))
            except BaseException:
                process.terminate()
                raise
    return process.returncode


def become(command, cwd):
    """Replaces this process by `command`, so that signals and the exit code are the command's."""
    sys.stdout.flush()
    os.chdir(cwd)
    os.execvp(command[0], command)


def output_of(command):
    """Returns the output of `command`, or None if it is missing or fails."""
    try:
        result = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True,
                                errors="replace", timeout=20, env={**os.environ, "LC_ALL": "C"})
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout if result.returncode == 0 else None


def commit_of(folder):
    """Returns the commit of a clone; "" if the folder is none, or git is missing."""
    return (output_of(["git", "-C", str(folder), "rev-parse", "HEAD"]) or "").strip()
