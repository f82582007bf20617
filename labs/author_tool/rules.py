"""The checks of the labs that run no code: each function yields complaints, one line each."""

import re
from collections import Counter

from lab_tool.checking import cases_of, program_of
from lab_tool.regions import HEADERS

LAMBDA = re.compile(r"\](?:\([^>]*\))?(?: mutable)? \{$")  # without ->
LONGEST_REGION = 25
HINTS = 3
POINTS_STEP = 5
LEAST_MUTANTS = 4


def check_regions(catalogue):
    """Each region has a sentence as title, a task with a row in a table, and 1 to 25 lines; a file
    has regions of one lab, and is not a header: checks replace only sources."""
    rows = {task.name for lab in catalogue.labs for task in lab.tasks}
    for region in catalogue.regions:
        if not re.match(r"[A-Z].*\.$", region.title):
            yield f"{region.place}: the title is not a sentence: {region.title}"
        if not 1 <= len(region.body) <= LONGEST_REGION:
            yield f"{region.place}: the region has {len(region.body)} lines, not 1 to " \
                  f"{LONGEST_REGION}"
        if region.path.endswith(HEADERS):
            yield f"{region.place}: the region is in a header; move its code to a .cpp or .cu file"
        if region.lab != catalogue.lab_of[region.path]:
            yield f"{region.place}: the file has regions of another lab; move one to another file"
        if region.task not in rows:
            yield f"{region.place}: task {region.task} has no row in a README's task table"


def check_lambdas(catalogue):
    """A lambda whose return stands in a region has a return type, since starters have none."""
    for region in catalogue.regions:
        lines = (catalogue.root / region.path).read_text(encoding="utf-8").split("\n")
        head = next((line for line in reversed(lines[:region.first]) if line.strip()
                     and len(line) - len(line.lstrip()) < len(region.indent)), "")
        if LAMBDA.search(head) and any("return " in line for line in region.body):
            yield f"{region.place}: the lambda around the region needs a return type: -> ..."


def check_tasks(catalogue):
    """Each row of a task table is complete, and its task has points, files and three hints."""
    for lab in catalogue.labs:
        readme = f"{lab.folder.relative_to(catalogue.root)}/README.md"
        names = Counter(task.name for task in lab.tasks)
        for task in lab.tasks:
            if names[task.name] > 1 or task.name[:2] != lab.number:
                yield f"{readme}: the row {task.name} exists twice, or belongs to another lab"
            if not catalogue.files_of(task=task.name):
                yield f"{readme}: task {task.name} has no region in the sources"
            if not (task.what and task.file and task.done_when):
                yield f"{readme}: the row {task.name} lacks what, file or done when"
            if task.points < POINTS_STEP or task.points % POINTS_STEP:
                yield f"{readme}: the row {task.name} ends with its points, a multiple of " \
                      f"{POINTS_STEP}; it has {task.points}"
            hints = len(lab.hints(task.name))
            if hints != HINTS:
                yield f"{lab.folder.relative_to(catalogue.root)}/hints/{task.name}.md has " \
                      f"{hints} hints (## 1, ## 2, ...), not {HINTS}"


def check_cases(labs):
    """Each task has a test case, and each case of a lab's check has a task."""
    for lab in labs:
        program = program_of(lab.number, "schemata")
        tagged = set()
        for task in lab.tasks:
            names = cases_of(program, f"lab{task.name}") or []
            tagged.update(names)
            if not names:
                yield f"task {task.name} has no test case tagged [lab{task.name}]"
        for name in cases_of(program, f"lab{lab.number}") or []:
            if name not in tagged:
                yield f"the case {name!r} of lab {lab.number} has no task's tag"


def check_mutants(catalogue, mutants):
    for lab in catalogue.labs:
        count = sum(mutant.lab == lab.number for mutant in mutants)
        if count < LEAST_MUTANTS:
            yield f"lab {lab.number} has {count} mutants, not at least {LEAST_MUTANTS}"
