"""The checks of `labs/lab dev check` that run the labs' code.

One build has all bodies (author_tool.schemata). Then the cases run:

    reference   MINI_REACHED=file: every case passes; the file has the tasks whose regions the
                case runs
    stubs       MINI_STUB=lab07.2: every case of task 07.2 is "not started"; cases of later
                tasks pass or are "not started"; cases of earlier tasks pass
    cores       the check with each core's empty form: every case of a core's task is "not started",
                and no case fails
    mutants     MINI_MUTANT=lab07.2/name: a case of the lab fails; the first failure ends the run
"""

import html
import random
import re
import tempfile
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field

from lab_tool import building, checking
from lab_tool.places import BUILD
from lab_tool.projection import folder_of, write_all
from lab_tool.runner import Limits, ProcessResult
from lab_tool.screen import ProgressLine
from lab_tool.verdict import FAILED, NOT_STARTED, PASSED, cases_of as finished_cases, judge

SCHEMATA = BUILD / "schemata"
# What a process with a mutant may take: these seconds, and so many times as long as the reference,
# up to a limit for one case and a limit for several (after which they run one by one).
LEAST_SECONDS, TIMES_THE_REFERENCE = 6.0, 10.0
MOST_SECONDS, MOST_TOGETHER = 20.0, 10.0
SLOW_SECONDS = 2.0  # a case that takes longer with the reference is run after the others
CASES_PER_CORE = 2  # because some cases wait
BEGUN = re.compile(r'<TestCase name="([^"]*)"')
TOGETHER_SECONDS = 120.0
MUTANTS_PER_CORE = 4  # because many mutants only wait for a deadline
MUTANT_RUNS = MUTANTS_PER_CORE, "  running the mutants"


@dataclass
class Outcome:
    """Counts for the summary, and complaints; the check passes if there are no complaints."""

    complaints: list = field(default_factory=list)
    counts: dict = field(default_factory=dict)
    killed: list = field(default_factory=list)  # (mutant, verdict on the killing case)

    def count(self, what, number=1):
        self.counts[what] = self.counts.get(what, 0) + number

    def blame(self, complaint):
        self.complaints += [complaint] * bool(complaint)


def spread(function, items, per_core=1, label=""):
    """Returns function(item) for all items, in their order. Runs `per_core` at a time on a core, in
    a random order, since neighbours may all wait. Shows the progress if there is a label."""
    turns = random.Random(1).sample(range(len(items)), len(items))
    with checking.pool_of_cases(per_core) as pool, ProgressLine(label) as progress:
        found = {}
        for turn, result in zip(turns, pool.map(lambda turn: function(items[turn]), turns)):
            found[turn] = result
            progress.show(len(found), len(items) * bool(label))
    return [found[turn] for turn in range(len(items))]


@dataclass
class Case:
    name: str
    tasks: set = field(default_factory=set)  # it is a case of these
    reached: set = field(default_factory=set)  # it runs the regions of these
    seconds: float = 0.0  # that it took with the reference

    def needs(self, task):
        """Returns whether the case can differ from the reference if the task does."""
        return task in self.tasks or task in self.reached


def cases_of(lab):
    found, program = {}, checking.program_of(lab.number, "schemata")
    for task in lab.tasks:
        for name in checking.cases_of(program, f"lab{task.name}") or []:
            found.setdefault(name, Case(name)).tasks.add(task.name)
    return list(found.values())


def run_reference(lab, case):
    """Returns the verdict on a case; notes its time, and the tasks whose regions it runs."""
    program = checking.program_of(lab.number, "schemata")
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
        verdict = checking.check_case(program, case.name, MINI_REACHED=file.name)
        case.reached = {line.removeprefix("lab") for line in file.read().split()}
        case.seconds = verdict.seconds
    return verdict


def check_references(labs, cases, outcome):
    """Returns the labs of which every case passes with the reference. `cases`: {lab: its cases}."""
    runs = [(lab, case) for lab in labs for case in cases[lab.number]]
    verdicts = spread(lambda run: run_reference(*run), runs, CASES_PER_CORE)
    failed = set()
    for (lab, _), verdict in zip(runs, verdicts):
        outcome.count("cases of the reference")
        if verdict.status != PASSED:
            failed.add(lab.number)
            outcome.blame(f"lab {lab.number}: the reference fails {verdict.name!r}: "
                          + "; ".join([verdict.reason, *verdict.story[:6]]))
    return [lab for lab in labs if lab.number not in failed]


def verdicts_together(program, names, limits, *options, **environment):
    """Runs many cases in one process, which is quicker than one process each. Returns {name:
    verdict} of the cases that ended, {} if the process ended early; and the last that began."""
    ended, text = checking.run_cases(program, names, limits, *options, **environment)
    last = (["", *BEGUN.findall(text)])[-1]
    return {} if ended.killed_for else judge_all(text), html.unescape(last)


def check_together(program, names, **environment):
    """Returns the verdicts on many cases, run in one process, or alone if that ends early."""
    limits = Limits(seconds=TOGETHER_SECONDS)
    found, _ = verdicts_together(program, names, limits, **environment)
    return [found.get(name) or checking.check_case(program, name, **environment) for name in names]


def first_failure(program, names, limits_of, **environment):
    """Returns the verdict on the first case that fails in its own process, or None. The cases run
    together, up to a failure. If that is the first case, it had the process for itself; another
    is run again alone and, if it passes, so are all. `limits_of(names)`: of one process."""
    found, last = verdicts_together(program, names, limits_of(names), "--abort", **environment)
    if list(found) == [last] and found[last].status == FAILED:
        return found[last]
    if len(found) == len(names) and found[last].status != FAILED:
        return None
    for name in dict.fromkeys([last or names[0], *names]):
        verdict = checking.check_case(program, name, limits_of([name]), "--abort", **environment)
        if verdict.status == FAILED:
            return verdict
    return None


def judge_all(result):
    """Returns {name: verdict} of the cases in a complete result, without one that ended it:
    what that printed is a part of the verdict."""
    return {case.get("name"): judge(case.get("name"), ProcessResult(),
                                    xml.tostring(case, encoding="unicode"), Limits())
            for case in finished_cases(result) if case.find(".//FatalErrorCondition") is None}


def check_stubs(catalogue, labs, cases, outcome):
    """Checks each task with its stub. Cases of labs with kernels run in processes of their own,
    because a kernel that fails makes its device unusable."""
    runs = [(lab, task.name) for lab in labs for task in lab.tasks
            if catalogue.regions_of(task=task.name)]

    def run(stub):
        (lab, task), program = stub, checking.program_of(stub[0].number, "schemata")
        names = [case.name for case in cases[lab.number] if case.needs(task)]
        if any(region.in_device_file for region in catalogue.regions_of(lab=lab.number)):
            return [checking.check_case(program, name, MINI_STUB=f"lab{task}") for name in names]
        return check_together(program, names, MINI_STUB=f"lab{task}")

    for (lab, task), verdicts in zip(runs, spread(run, runs, CASES_PER_CORE)):
        outcome.count("stubs")
        judge_stub(task, {task}, verdicts, cases[lab.number], outcome)


def check_empty_forms(workspace, labs, cases, outcome, log):
    """Builds and runs the checks of `labs` with the empty forms of their cores."""
    catalogue = workspace.catalogue
    cores = {lab.number: [path for path in catalogue.files_of(lab.number) if workspace.is_core(path)]
             for lab in labs}
    numbers = [number for number in cores if cores[number]]
    for number in numbers:
        folder = folder_of(number)
        write_all(folder, {folder / path: workspace.starter(path) for path in cores[number]})
    targets = [f"lab{number}_check" for number in numbers]
    if targets:
        building.check_built("the empty files do not build", *building.build_checks(targets, log), log)

    def run(number):
        program = checking.program_of(number)
        return [verdict if verdict.status != FAILED else checking.check_case(program, verdict.name)
                for verdict in check_together(program, [case.name for case in cases[number]])]

    for number, verdicts in zip(numbers, spread(run, numbers)):
        outcome.count("empty files", len(cores[number]))
        tasks = {region.task for region in catalogue.regions if region.path in cores[number]}
        judge_stub(", ".join(cores[number]), tasks, verdicts, cases[number], outcome)


def judge_stub(stub, unwritten, verdicts, cases, outcome):
    """`unwritten`: the tasks that the stub leaves unwritten."""
    tasks = {case.name: case.tasks for case in cases}
    for verdict in verdicts:
        own = tasks[verdict.name] & unwritten
        later = max(tasks[verdict.name]) > min(unwritten)
        if own and verdict.status != NOT_STARTED:
            outcome.blame(f"stub {stub}: its case {verdict.name!r} {verdict.status}; it should be "
                          f"not started: {verdict.reason}")
        elif verdict.status == FAILED:
            outcome.blame(f"stub {stub}: {verdict.name!r} of {', '.join(tasks[verdict.name])} "
                          f"failed, as if it were begun: {verdict.reason}")
        elif verdict.status == NOT_STARTED and not own and not later:
            outcome.blame(f"stub {stub}: {verdict.name!r} of the earlier task "
                          f"{', '.join(tasks[verdict.name])} needs it")


def seconds_for(reference, most=MOST_SECONDS):
    return min(LEAST_SECONDS + TIMES_THE_REFERENCE * reference, most)


def killer_of(mutant, cases):
    """Returns the verdict on a case that fails with a mutant, or None; its own task's run first."""
    program = checking.program_of(mutant.lab, "schemata")
    took = {case.name: case.seconds for case in cases}

    def limits_of(names):
        most = MOST_SECONDS if len(names) == 1 else MOST_TOGETHER
        return Limits(seconds_for(sum(took[name] for name in names), most), stacks=False)

    for is_own, is_slow in ((True, False), (True, True), (False, False), (False, True)):
        names = [case.name for case in cases
                 if case.needs(mutant.task) and (mutant.task in case.tasks) == is_own
                 and (case.seconds > SLOW_SECONDS) == is_slow]
        verdict = names and first_failure(program, names, limits_of, MINI_MUTANT=mutant.name)
        if verdict:
            return verdict
    return None


def check_mutants(mutants, cases, outcome):
    verdicts = spread(lambda mutant: killer_of(mutant, cases[mutant.lab]), mutants, *MUTANT_RUNS)
    for mutant, verdict in zip(mutants, verdicts):
        outcome.count("mutants")
        if verdict is None:
            outcome.blame(f"mutant {mutant.name} survives: {mutant.wrong} ({mutant.place})")
        else:
            outcome.killed.append((mutant, verdict))


def build_schemata(catalogue, labs, log):
    """Builds the checks of `labs` with all bodies."""
    building.configure(log, *["-DMINI_CUDA=SIM"] * any(
        region.in_device_file for region in catalogue.regions))
    targets = [f"lab{lab.number}_schemata" for lab in labs]
    building.check_built("the schemata do not build", *building.build_checks(targets, log), log)
