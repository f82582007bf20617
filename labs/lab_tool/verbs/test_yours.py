"""Runs your own test of a lab on libmini's code, and on mutants of it.

    labs/lab test-yours 9

The test is work/09-distributed-sampler/my_test.cpp; the first call writes one
to begin with. It is built with libmini's code, not with yours, and must pass
there. Then it runs on 20 mutants with one mistake each, which stay secret. A
mutant is killed if a case fails, crashes or does not end in time. For every two
killed mutants labs/lab grade adds one bonus point."""

import random
import tempfile
from collections import Counter

from author_tool import dev_check
from author_tool.mutants import read_mutants
from author_tool.schemata import generate
from lab_tool import report
from lab_tool.building import configure
from lab_tool.checking import TaskResult, cases_of, check_case, judge_task, program_of
from lab_tool.confine import FREE
from lab_tool.empty_form import headers_of
from lab_tool.hunts import build_failure
from lab_tool.places import BUILD, fresh_log, replace_file
from lab_tool.projection import own_test
from lab_tool.runner import Limits
from lab_tool.screen import say
from lab_tool.verdict import FAILED, NOT_STARTED, PASSED
from lab_tool.workspace import Workspace

SAMPLE, CONTROLS, POINTS = 20, 4, 10  # mutants, runs without one among them, points
BODIES = BUILD / "yours"
ALL = "*"  # the name of all cases
# 24 runs, eight at a time on two cores, of at most dev_check.MOST_SECONDS: a minute.
MOST_SECONDS, MOST_SECONDS_ALONE = 2.0, 10.0  # of all cases on libmini's code, and of one case
STARTER = """\
// Your own test of lab {number}: it must pass on libmini's code, and fail on wrong versions of it.
// Run it: labs/lab test-yours {number}

{includes}

#include "tests/support/catch.hpp"

namespace mini {{

TEST_CASE("a sentence that must be true") {{
    CHECK(1 + 1 == 2);  // call a function of the headers, and compare its result
}}

}}  // namespace mini
"""


def add_arguments(parser):
    parser.add_argument("lab", metavar="N", help="the lab's number: 7")


def run(options):
    workspace = Workspace()
    lab = workspace.catalogue.lab(options.lab)
    path = own_test(workspace, lab)
    if not path.exists():
        replace_file(path, starter(workspace, lab))
        say(f"wrote {path.relative_to(workspace.root)}: write your test there, then run this again")
        return 0
    say(report.head(lab))
    result = check_own_test(workspace, lab)
    report.say_stories([result])
    if result.status != FAILED:
        say(f"\nyour test {result.reason}")
    return 0 if result.status == PASSED else 1


def starter(workspace, lab):
    paths = workspace.catalogue.files_of(lab.number)
    cores = list(filter(workspace.is_core, paths)) or paths
    headers = {header for path in cores for header in headers_of(workspace.root, path)}
    return STARTER.format(number=lab.number, includes="\n".join(
        f'#include "{header}"' for header in sorted(headers)))


def check_own_test(workspace, lab, confinement=FREE):
    """Returns the TaskResult of the learner's test of a lab, with the bonus points."""
    task, own = f"{lab.number}.test", own_test(workspace, lab)
    if own.read_text(encoding="utf-8", errors="replace") == starter(workspace, lab):
        return TaskResult(task, NOT_STARTED, "is still the one to begin with")
    mutants = write_bodies(workspace, lab)
    failure = build_failure(task, f"lab{lab.number}_yours", own.relative_to(workspace.root))
    if failure:
        return failure
    program, limits = program_of(lab.number, "yours"), Limits(MOST_SECONDS_ALONE, confinement=confinement)
    confinement.check(program)
    cases = cases_of(program)
    result = judge_task(task, cases, dev_check.spread(
        lambda case: check_case(program, case, limits), cases or []))
    if result.status != PASSED:
        result.reason = f"your test fails on the reference, libmini's own code: {result.reason}"
        for verdict in result.verdicts:  # the value on the left is not the learner's
            verdict.story = [line.replace("yours     ", "libmini's ") for line in verdict.story]
        return result
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
        confinement.own(file.name)
        again = check_case(program, ALL, limits, MINI_REACHED=file.name)
        reached = {line.removeprefix("lab") for line in file.read().split()}
    unstable = TaskResult(task, FAILED, "your test passes and fails on the same code, libmini's: does "
                          "it depend on time, on chance, or on another case?")
    if again.status == FAILED:
        return unstable
    if again.seconds > MOST_SECONDS:
        return TaskResult(task, FAILED, f"your test takes {again.seconds:.1f} s on libmini's code, and "
                          f"may take {MOST_SECONDS:g} s: make it smaller")
    limits = Limits(dev_check.seconds_for(again.seconds), stacks=False, confinement=confinement)
    runs = [mutant.name for mutant in mutants if mutant.task in reached] + [""] * CONTROLS
    fails = dev_check.spread(lambda name: check_case(
        program, ALL, limits, "--abort", MINI_MUTANT=name).status == FAILED, runs, *dev_check.MUTANT_RUNS)
    killed = {name for name, has_failed in zip(runs, fails) if has_failed}
    if "" in killed:
        return unstable
    say_killed(mutants, reached, killed)
    bonus = -(-len(killed) * POINTS // len(mutants))  # rounded up
    return TaskResult(task, PASSED, f"kills {len(killed)} of {len(mutants)} mutants: {bonus} of "
                      f"{POINTS} bonus points", bonus=bonus)


def write_bodies(workspace, lab):
    """Writes all bodies of the labs with a test of the learner's; returns the sample of mutants."""
    catalogue = workspace.catalogue
    mutants = read_mutants(catalogue)
    labs = [each for each in catalogue.labs if own_test(workspace, each).exists()]
    generate(catalogue, labs, mutants, BODIES)
    if any(region.in_device_file for region in catalogue.regions_of(lab.number)):
        configure(fresh_log("yours"), "-DMINI_CUDA=SIM")
    of_lab = [mutant for mutant in mutants if mutant.lab == lab.number]
    return random.Random(lab.number).sample(of_lab, min(SAMPLE, len(of_lab)))  # always the same


def say_killed(mutants, reached, killed):
    of = Counter(mutant.task for mutant in mutants)
    dead = Counter(mutant.task for mutant in mutants if mutant.name in killed)
    for task in sorted(of):
        note = "" if task in reached else ": your test does not run its code"
        say(f"  {task}  {dead[task]} of {of[task]} mutants killed{note}")
