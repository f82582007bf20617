"""Running other programs: watched line by line into a log, or in the user's own terminal."""

import os
import shlex
import signal
import subprocess

from lab_tool.screen import LabError, say

LINES_ON_FAILURE = 30


def spell(command):
    """The command as one would type it."""
    return " ".join(shlex.quote(str(word)) for word in command)


def run_logged(command, log, on_line, cwd=None, env=None):
    """Runs `command`, appending its output to the open file `log` and handing each line to
    on_line. Returns the exit code."""
    log.write(f"$ {spell(command)}\n")
    log.flush()
    try:
        process = subprocess.Popen(
            command, cwd=cwd, env=env, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT, text=True, errors="replace",
        )
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
    log.flush()
    return process.returncode


def check_logged(what, command, log_path, on_line, **options):
    """run_logged into the file `log_path`; a failure shows the last lines and raises LabError."""
    with open(log_path, "a", encoding="utf-8", errors="replace") as log:
        code = run_logged(command, log, on_line, **options)
    if code == 0:
        return
    with open(log_path, encoding="utf-8", errors="replace") as log:
        for line in log.readlines()[-LINES_ON_FAILURE:]:
            say("  | " + line.rstrip("\n"))
    raise LabError(f"{what} failed (exit code {code}); the whole output is in {log_path}")


def run_in_foreground(command, cwd=None, env=None):
    """Runs `command` with the user's terminal as its own, and returns the exit code as a shell
    has it. Ctrl-C reaches it directly; signals sent to us alone are passed on."""
    process = None
    early = []  # signals that came before there was a process

    def pass_on(number, frame):
        process.send_signal(number) if process else early.append(number)

    # A function, not SIG_IGN: that the program would inherit, and be deaf to Ctrl-C.
    handlers = {signal.SIGINT: lambda number, frame: None}
    handlers.update({signal.SIGTERM: pass_on, signal.SIGHUP: pass_on})
    before = {number: signal.signal(number, handler) for number, handler in handlers.items()}
    try:
        process = subprocess.Popen(command, cwd=cwd, env=env)
        for number in early:
            process.send_signal(number)
        code = process.wait()
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
    return 128 - code if code < 0 else code


def output_of(command):
    """What `command` prints, or None when it is missing or fails."""
    try:
        result = subprocess.run(
            command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL, text=True, errors="replace", timeout=20,
            env={**os.environ, "LC_ALL": "C"},
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout if result.returncode == 0 else None
