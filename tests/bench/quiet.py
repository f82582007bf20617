"""Tells whether other processes disturb a measurement.

A measurement is disturbed if other processes used more than LIMIT cores meanwhile, or if the
hypervisor took that much time from this machine:

    other cores = (busy CPU time of the machine - CPU time of this process and its descendants)
                  / seconds

/proc/stat counts in ticks of 10 ms, so SLACK seconds are allowed in addition. Without /proc (not
Linux) nothing is known about other processes, and no measurement counts as quiet.
"""

import os
import time
from dataclasses import dataclass, field
from pathlib import Path

LIMIT = 0.05  # cores
SLACK = 0.03  # CPU seconds, three ticks
PROBE = 0.5  # seconds of one look at an idle machine


@dataclass(frozen=True)
class Reading:
    """CPU seconds at one time."""

    at: float  # seconds of the monotonic clock
    busy: float  # of the whole machine, with the time that the hypervisor took
    own: float  # of this process and its descendants
    others: dict = field(default_factory=dict)  # {process: (name, CPU seconds)}


@dataclass(frozen=True)
class Noise:
    """The CPU time of other processes during a measurement."""

    seconds: float  # the measurement's
    cores: float
    culprit: str = ""  # the name of the process that used most

    def is_quiet(self):
        return self.cores * self.seconds <= LIMIT * self.seconds + SLACK

    def __str__(self):
        what = f"other processes used {self.cores:.2f} cores"
        return f"{what}, most of it {self.culprit}" if self.culprit else what


UNKNOWN = Noise(1.0, float("inf"), "unknown: this system has no /proc/stat")


def between(before, after):
    """Returns the noise between two readings."""
    if before is None or after is None:
        return UNKNOWN
    seconds = max(after.at - before.at, 1e-9)
    foreign = (after.busy - before.busy) - (after.own - before.own)
    used = {process: spent - before.others.get(process, (name, 0.0))[1]
            for process, (name, spent) in after.others.items()}
    most = max(used, key=used.get, default=None)
    culprit = after.others[most][0] if most is not None and used[most] > SLACK else ""
    return Noise(seconds, max(0.0, foreign) / seconds, culprit)


def busy_seconds(text, ticks):
    """Returns the busy time in the first line of /proc/stat: user, nice, system, irq, softirq and
    steal."""
    fields = [int(word) for word in text.split("\n", 1)[0].split()[1:9]]
    user, nice, system, _idle, _iowait, irq, softirq, steal = fields
    return (user + nice + system + irq + softirq + steal) / ticks


def process_times(text, ticks):
    """Returns (name, parent, own CPU seconds, CPU seconds of children that have been waited for) of
    the text of /proc/PID/stat. A name may contain spaces and parentheses."""
    name = text[text.index("(") + 1:text.rindex(")")]
    fields = text[text.rindex(")") + 2:].split()
    user, system, children_user, children_system = (int(word) for word in fields[11:15])
    return name, int(fields[1]), (user + system) / ticks, (children_user + children_system) / ticks


def family(parents, ancestor):
    """Returns `ancestor` and its descendants, of {process: parent}."""
    children = {}
    for process, parent in parents.items():
        children.setdefault(parent, []).append(process)
    found, waiting = set(), [ancestor]
    while waiting:
        process = waiting.pop()
        found.add(process)
        waiting += children.get(process, ())
    return found


def read():
    """Returns a Reading of this machine, or None without /proc."""
    ticks = os.sysconf("SC_CLK_TCK")
    try:
        busy = busy_seconds(Path("/proc/stat").read_text(), ticks)
    except OSError:
        return None
    processes = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            processes[int(folder.name)] = process_times((folder / "stat").read_text(), ticks)
        except OSError:
            continue  # it has ended
    ours = family({process: times[1] for process, times in processes.items()}, os.getpid())
    own = sum(sum(processes[process][2:]) for process in ours if process in processes)
    others = {process: (name, spent) for process, (name, _, spent, _) in processes.items()
              if process not in ours}
    return Reading(time.monotonic(), busy, own, others)


class Machine:
    """Waits for a quiet machine, for `patience` seconds in all. After that it does not wait: the
    results are then not valid, and there is no use in waiting before each of them."""

    def __init__(self, patience, reader=read, sleep=time.sleep):
        self.left, self.reader, self.sleep = patience, reader, sleep

    def wait_until_quiet(self):
        """Returns the noise of the last look: quiet, or the patience is used up."""
        while True:
            before = self.reader()
            self.sleep(PROBE)
            noise = between(before, self.reader())
            if noise.is_quiet() or self.left <= 0 or noise is UNKNOWN:
                return noise
            self.left -= PROBE

    def watch(self, work):
        """Returns the result of work() and the noise meanwhile."""
        before = self.reader()
        result = work()
        return result, between(before, self.reader())
