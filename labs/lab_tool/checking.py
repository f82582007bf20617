"""Checks a learner's tasks with the lab's check program, which lists the cases tagged [lab07.2].

Each case runs in its own process, several at a time, under a watchdog."""

import contextlib
import os
import re
import subprocess
import tempfile
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from lab_tool.places import BIN, ROOT
from lab_tool.runner import STOP, Limits, case_environment, run_case
from lab_tool.verdict import FAILED, NOT_STARTED, PASSED, WAITS, Verdict, judge

LISTING = (["--list-test-names-only"], ["--list-tests", "--verbosity", "quiet"])  # Catch2 2 and 3
LISTING_SECONDS = 30
LARGEST_RESULT = 16 << 20


@dataclass
class TaskResult:
    task: str
    status: str  # passed, failed, not started, waits
    reason: str = ""
    verdicts: list = field(default_factory=list)
    errors: list = field(default_factory=list)  # CompileErrors
    bonus: int = 0  # points of a learner's own test


def program_of(lab, kind="check"):
    return BIN / f"lab{lab}_{kind}"


def cases_of(program, tag=""):
    """Returns the names of the test cases, by default of all tags; None if the program cannot list them."""
    for options in LISTING:
        try:
            listed = subprocess.run([program, *options, *[f"[{tag}]"] * bool(tag)], stdin=subprocess.DEVNULL,
                                    capture_output=True, text=True, errors="replace",
                                    timeout=LISTING_SECONDS, env=case_environment())
        except subprocess.TimeoutExpired:
            return None
        names = [line.strip() for line in listed.stdout.splitlines() if line.strip()]
        if names or listed.returncode == 0 and not listed.stderr:
            return names  # Catch2 2 returns the number of cases as its exit code
    return None


def run_cases(program, names, limits, *options, **environment):
    """Runs cases in one process; returns how it ended, and its result in XML, or ""."""
    with tempfile.TemporaryDirectory(prefix="lab-", ignore_cleanup_errors=True) as folder:
        limits.confinement.own(folder)
        result = Path(folder) / "result.xml"
        command = [str(program), ",".join(re.sub(r"[\\,[]", r"\\\g<0>", name) for name in names),
                   "-r", "xml", "-o", str(result), *options]
        ended = run_case(command, limits, cwd=ROOT, with_token=True,
                         env=case_environment(TMPDIR=folder, **environment))
        text = read_result(result)
    return ended, text


def read_result(path):
    """Returns the text of a result file; "" if the process left something else in its place."""
    try:
        with open(os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK), "rb") as file:
            return file.read(LARGEST_RESULT).decode("utf-8", "replace")
    except OSError:
        return ""


def check_case(program, name, limits=Limits(), *options, **environment):
    ended, text = run_cases(program, [name], limits, *options, **environment)
    return judge(name, ended, text, limits)


def workers():
    return max(1, min(4, len(os.sched_getaffinity(0))))


@contextlib.contextmanager
def pool_of_cases(per_core=1):
    """Returns a pool of threads that run cases; Ctrl-C ends the running and the waiting cases."""
    with ThreadPoolExecutor(workers() * per_core) as pool:
        try:
            yield pool
        except BaseException:
            STOP.set()
            pool.shutdown(wait=False, cancel_futures=True)
            raise


def check_tasks(lab, tasks, program=None, limits=Limits(), known=None,
                on_task=lambda result: None):
    """Returns the TaskResults of tasks, in their order; those in `known` are not run."""
    program, known = program or program_of(lab), known or {}
    results = []
    with pool_of_cases() as pool:
        planned, names = [], []
        for task in tasks:
            if task in known:
                planned.append((task, [], []))
                continue
            names = cases_of(program, f"lab{task}") if names is not None else None
            late = []  # the first case that did not end; later cases of the task are skipped
            futures = [pool.submit(check_unless, late, program, name, limits)
                       for name in names or []]
            planned.append((task, names, futures))
        for task, names, futures in planned:
            verdicts = [future.result() for future in futures]
            results.append(known.get(task) or judge_task(task, names, verdicts))
            on_task(results[-1])
    return results


def check_unless(late, program, name, limits):
    """Calls check_case if `late` is empty; appends the case to it if it does not end in time."""
    if late:
        return Verdict(name, FAILED, f"was not run after {late[0]!r}")
    verdict = check_case(program, name, limits)
    if verdict.late:
        late.append(name)
    return verdict


def judge_task(task, names, verdicts):
    """Returns the TaskResult. A task passes if all its cases pass; it is not started if a
    case reached the stub of this task, or a function that the learner's file does not define."""
    if names is None:
        return TaskResult(task, FAILED, "the program ended before a check could run: does a "
                          "global object of your code crash or exit?")
    if not names:
        return TaskResult(task, FAILED, "it has no checks")
    failed = [verdict for verdict in verdicts if verdict.status == FAILED]
    waiting = [verdict for verdict in verdicts if verdict.status == NOT_STARTED]
    own = [verdict for verdict in waiting if task in verdict.waits_for.split(",")]
    result = TaskResult(task, PASSED, verdicts=verdicts)
    if own:
        result.status, result.reason = NOT_STARTED, own[0].lacks
    elif failed:
        result.status, result.reason = FAILED, failed[0].reason
    elif waiting:
        first = min(waiting, key=lambda verdict: verdict.waits_for)
        result.status = WAITS
        result.reason = first.lacks or f"needs task {first.waits_for} first"
    return result


def known_failures(regions, workspace, broken):
    """Returns {task: result} of tasks whose file is missing or does not compile: their check would
    run the solution."""
    known = {}
    for region in regions:
        errors = broken.get(workspace.name(region.path))
        if errors is not None:
            what = "link" if errors and errors[0].is_of_linker else "compile"
            known[region.task] = TaskResult(
                region.task, FAILED, f"{workspace.shown(region.path)} does not {what}", errors=errors)
        elif workspace.mine(region.path) is None:
            known[region.task] = TaskResult(
                region.task, FAILED, f"{workspace.shown(region.path)} is missing; to begin it again: "
                f"labs/lab start {region.lab}")
    return known


def check_lab(workspace, lab, broken, tasks=None, limits=Limits(), on_task=lambda result: None):
    """Checks tasks of a lab that was built, by default all. Tasks of `broken` files fail."""
    wanted = tasks or [task.name for task in lab.tasks]
    known = known_failures(workspace.catalogue.regions_of(lab=lab.number), workspace, broken)
    return check_tasks(lab.number, wanted, limits=limits, known=known,
                       on_task=heard_by(on_task, workspace))


def heard_by(on_task, workspace):
    """Wraps on_task: an untouched task does not wait, it is not started; and a task that is begun
    has failed if a case fails that needs no gap."""

    def hear(result):
        failed = [verdict for verdict in result.verdicts if verdict.status == FAILED]
        if result.status == WAITS and workspace.untouched(result.task):
            result.status, result.reason = NOT_STARTED, ""
        elif result.status == NOT_STARTED and failed and not workspace.untouched(result.task):
            result.status, result.reason = FAILED, failed[0].reason
        on_task(result)

    return hear
