"""Runs one test case of a lab's check in its own process, under a watchdog.

The checked code may loop forever, deadlock, crash, call _exit(0), or write without end: run_case
always returns."""

import contextlib
import ctypes
import os
import secrets
import signal
import socket
import subprocess
import tempfile
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path

from lab_tool.confine import FREE, Confinement

MIB = 1 << 20
KEPT = 64 << 10  # bytes kept of the output's beginning, and of its end
MEMORY_MIB = 3072
# CUDA maps memory into the shadow gap, so the gap must not be protected.
SANITIZER_OPTIONS = ("allocator_may_return_null=1:handle_segv=2:handle_abort=2:handle_sigfpe=2:"
                     f"protect_shadow_gap=0:hard_rss_limit_mb={MEMORY_MIB}")
STACK_SIGNAL = signal.SIGUSR2  # labs/check/watch.cpp then writes the thread's stack
STACK_END = b"== end of stack"
STACK_SECONDS = 5.0
TOKEN_BYTES = 32
STOP = threading.Event()  # once set, every running case is ended


@dataclass(frozen=True)
class Limits:
    seconds: float = 40.0  # longer than a ProcessGroup's deadline of 30 s, whose error says more
    output_bytes: int = 8 * MIB
    stacks: bool = True  # at the end of the time get the stacks, which takes seconds
    confinement: Confinement = FREE


@dataclass
class ProcessResult:
    code: int = 0  # as Popen.returncode: negative if a signal ended the process
    output: str = ""
    seconds: float = 0.0
    killed_for: str = ""  # "", "time", "output" or "stop"
    stacks: list = field(default_factory=list)  # text, one per thread, when killed for time
    token_returned: bool = True  # False: the token was asked for and did not come back


def case_environment(**more):
    """Returns the environment of a case: few logs, one thread per kernel, strict sanitizers."""
    env = {name: value for name, value in os.environ.items()
           if name not in ("MINI_STUB", "MINI_MUTANT") and not name.startswith("LD_")}
    env.update(OMP_NUM_THREADS="1", MINI_LOG_LEVEL="error", LC_ALL="C",
               ASAN_OPTIONS=SANITIZER_OPTIONS, UBSAN_OPTIONS="print_stacktrace=1", **more)
    return env


def run_case(command, limits=Limits(), cwd=None, env=None, with_token=False):
    """Runs `command` within the limits; returns how it ended. `with_token`: asks for the Token."""
    start = time.monotonic()
    token = Token() if with_token else None
    env = {**(env or os.environ), "MINI_TOKEN": str(token.fd)} if token else env
    ended = ProcessResult()
    with tempfile.TemporaryFile(buffering=0) as output:
        process = subprocess.Popen(limits.confinement.command(command), cwd=cwd, env=env,
                                   stdin=subprocess.DEVNULL, stdout=output,
                                   stderr=subprocess.STDOUT, start_new_session=True,
                                   pass_fds=(token.fd,) if token else (),
                                   **limits.confinement.options())
        try:
            ended.killed_for = watch(process, output, start + limits.seconds, limits.output_bytes)
            if ended.killed_for == "time" and limits.stacks:
                ended.stacks = stacks_of(process, output)
        finally:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            ended.token_returned = token.came_back() if token else True
        ended.code, ended.seconds = process.returncode, time.monotonic() - start
        ended.output = kept(output)
    return ended


class Token:
    """A secret for one case. The check's program (labs/check/watch.cpp) takes it from a socket
    before the learner's code runs, and sends it back when all its cases have passed and Catch2
    ends: a process that ends by _exit() does not, whatever it wrote as its result."""

    def __init__(self):
        self.mine, self.theirs = socket.socketpair()
        self.secret = secrets.token_bytes(TOKEN_BYTES)
        self.mine.sendall(self.secret)
        self.fd = self.theirs.fileno()

    def came_back(self):
        """Returns whether the process has sent the secret. Call it when the process has ended."""
        self.mine.setblocking(False)
        try:
            return self.mine.recv(2 * TOKEN_BYTES) == self.secret
        except OSError:
            return False
        finally:
            self.mine.close()
            self.theirs.close()


def watch(process, output, deadline, most):
    """Waits until the process ends or must be killed; returns ProcessResult.killed_for."""
    while True:
        over, left = process.poll() is not None, deadline - time.monotonic()
        if STOP.is_set():
            return "stop"
        if size(output) > most:
            return "output"
        if over or left <= 0:
            return "" if over else "time"
        with contextlib.suppress(subprocess.TimeoutExpired):
            process.wait(min(left, 0.05))


def size(output):
    return os.fstat(output.fileno()).st_size


def kept(output):
    # pread, since this process and the case share one position in the file.
    head = os.pread(output.fileno(), KEPT, 0)
    tail = os.pread(output.fileno(), KEPT, max(KEPT, size(output) - KEPT))
    left_out = size(output) - len(head) - len(tail)
    middle = f"\n... {left_out} bytes left out ...\n".encode() if left_out > 0 else b""
    return (head + middle + tail).decode("utf-8", "replace")


def stacks_of(process, output):
    """Requests the stack of each thread of a stuck process, which the signal ends if it has no
    handler; returns the stacks as text."""
    libc, stacks = ctypes.CDLL(None), []
    tgkill = {"x86_64": 234, "aarch64": 131}.get(os.uname().machine)
    task = Path(f"/proc/{process.pid}/task")
    if tgkill is None or not task.exists():
        return stacks
    deadline = time.monotonic() + STACK_SECONDS
    for thread in sorted(task.iterdir(), key=lambda path: int(path.name)):
        before, answer = size(output), b""
        libc.syscall(tgkill, process.pid, int(thread.name), int(STACK_SIGNAL))
        while time.monotonic() < deadline and STACK_END not in answer and process.poll() is None:
            time.sleep(0.01)
            answer = os.pread(output.fileno(), MIB, before)
        stacks.append(answer.decode("utf-8", "replace"))
    return stacks
