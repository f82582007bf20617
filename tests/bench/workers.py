"""Contenders: processes that measure. A contender has

    start()      starts the processes and warms them up
    measure()    measures once; returns a number
    stop()       ends the processes

A worker (bench_worker.cpp, torch_worker.py) is a process that stays alive between its
measurements: it waits for a line with a number of seconds, and answers with a line of JSON.
"""

import contextlib
import json
import os
import select
import socket
import subprocess
import tempfile
import time

from lab_tool.places import ROOT
from lab_tool.process import spell
from lab_tool.screen import LabError

# glibc returns freed memory to the system, and its pages cost a fault each when they are used
# again. These settings keep the memory, which makes PyTorch's steps up to a fifth faster.
KEEP_MEMORY = {"MALLOC_MMAP_THRESHOLD_": "1073741824", "MALLOC_TRIM_THRESHOLD_": "4294967296",
               "MALLOC_TOP_PAD_": "268435456"}


DEADLINE = 600  # seconds of one measurement, or of a start with torch.compile


def torch_environment(threads):
    return {**os.environ, **KEEP_MEMORY, "OMP_NUM_THREADS": str(threads),
            "GLOO_SOCKET_IFNAME": "lo", "PYTHONDONTWRITEBYTECODE": "1"}


def free_port():
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        return listener.getsockname()[1]


def failure(command, code, stderr):
    """Returns the message of a command that failed, with the last lines of its stderr."""
    lines = stderr.strip().split("\n")[-5:]
    return "\n  | ".join([f"{spell(command)} ended with exit code {code}", *filter(None, lines)])


def run_once(command, env=None):
    """Runs a command to its end and returns its stdout; raises LabError if it fails."""
    try:
        result = subprocess.run(command, env=env, cwd=ROOT, stdin=subprocess.DEVNULL,
                                stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
                                timeout=DEADLINE)
    except subprocess.TimeoutExpired:
        raise LabError(f"{spell(command)} has not ended after {DEADLINE} s") from None
    if result.returncode != 0:
        raise LabError(failure(command, result.returncode, result.stderr))
    return result.stdout


def last_json(text):
    return json.loads(text.strip().split("\n")[-1])


class Once:
    """Starts a command for each measurement; `value_of` takes its stdout."""

    def __init__(self, command, value_of):
        self.command, self.value_of = [str(word) for word in command], value_of

    def start(self):
        pass

    def measure(self):
        return self.value_of(run_once(self.command))

    def stop(self):
        pass


class Worker:
    """A process that stays; `key` names the figure in its answers."""

    def __init__(self, command, key, seconds, env=None):
        self.command = [str(word) for word in command]
        self.key, self.seconds, self.env = key, seconds, env
        self.process, self.errors, self.answer = None, None, {}

    def launch(self):
        self.errors = tempfile.TemporaryFile("w+")
        self.process = subprocess.Popen(self.command, env=self.env, stdin=subprocess.PIPE,
                                        stdout=subprocess.PIPE, stderr=self.errors, text=True)

    def start(self):
        self.launch()
        self.ask(0.01)

    def request(self, seconds):
        try:
            self.process.stdin.write(f"{seconds}\n")
            self.process.stdin.flush()
        except BrokenPipeError:
            self.fail()

    def receive(self):
        ready, _, _ = select.select([self.process.stdout], [], [], DEADLINE)
        if not ready:
            self.process.kill()
            raise LabError(f"{spell(self.command)} has not answered for {DEADLINE} s")
        line = self.process.stdout.readline()
        if not line:
            self.fail()
        self.answer = json.loads(line)
        return self.answer

    def fail(self):
        code = self.process.wait()
        self.errors.seek(0)
        raise LabError(failure(self.command, code, self.errors.read()))

    def ask(self, seconds):
        self.request(seconds)
        return self.receive()

    def measure(self):
        return self.ask(self.seconds)[self.key]

    def end_requests(self):
        """Closes the worker's stdin, so that it ends."""
        if self.process:
            with contextlib.suppress(BrokenPipeError):
                self.process.stdin.close()

    def stop(self):
        self.end_requests()
        if self.process:
            self.process.wait()
            self.process.stdout.close()
            self.errors.close()


class Ranks:
    """Workers that are the ranks of one job. The figure is that of the slowest rank."""

    def __init__(self, command, ranks, key, seconds, env=None):
        self.command, self.ranks, self.env = command, ranks, env
        self.key, self.seconds, self.workers = key, seconds, []

    def start(self):
        port = free_port()
        for rank in range(self.ranks):
            words = [*self.command, "--rank", rank, "--ranks", self.ranks, "--port", port]
            self.workers.append(Worker(words, self.key, self.seconds, self.env))
            self.workers[-1].launch()
        self.ask(0.01)

    def ask(self, seconds):
        for worker in self.workers:
            worker.request(seconds)
        return [worker.receive() for worker in self.workers]

    def measure(self):
        return max(answer[self.key] for answer in self.ask(self.seconds))

    def stop(self):
        for worker in self.workers:
            worker.end_requests()
        for worker in self.workers:
            worker.stop()


class StartedRanks:
    """Starts a job for each measurement: the seconds from its start to the end of the first step,
    or the peak memory of its largest rank. `commands`: those of its processes."""

    def __init__(self, make_commands, figure, env=None):
        self.make_commands, self.figure, self.env = make_commands, figure, env

    def start(self):
        self.measure()  # so that the files are in the page cache

    def measure(self):
        started = time.monotonic()
        processes = [subprocess.Popen([str(word) for word in command], env=self.env, text=True,
                                      stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.PIPE)
                     for command in self.make_commands()]
        try:
            outputs = [process.communicate(timeout=DEADLINE) for process in processes]
        except subprocess.TimeoutExpired as error:
            for process in processes:
                process.kill()
            raise LabError(f"{spell(error.cmd)} has not ended after {DEADLINE} s") from None
        for process, (_, stderr) in zip(processes, outputs):
            if process.returncode != 0:
                raise LabError(failure(process.args, process.returncode, stderr))
        answer = last_json(outputs[0][0])
        return answer["mib"] if self.figure == "mib" else answer["first_step_at"] - started

    def stop(self):
        pass
