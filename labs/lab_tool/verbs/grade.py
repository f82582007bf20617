"""Checks every lab that is started and adds up points for each task that passes.

A task has as many points as its solution has code lines, rounded up to a multiple of 5; a bug hunt
has 10.

If work/ was submitted without work/.lab.json, every lab counts if all of its files are present.

The verdicts are made in this process: the output and the exit code of a check's process alone
cannot change them. This does not protect against code that forges results on purpose, because the
code runs inside the check: read the submitted code. The text or JSON goes to stdout, or to the file
given by --output; progress goes to stderr.
"""

import contextlib
import json
import os
import sys
from pathlib import Path

from lab_tool.catalogue import POINTS_OF_A_HUNT, Catalogue
from lab_tool.check_build import build_without_broken
from lab_tool.checking import check_lab
from lab_tool.hunts import check_hunt, task_of
from lab_tool.screen import LabError, say
from lab_tool.verbs.check import refuse_amiss
from lab_tool.verdict import NOT_STARTED, PASSED
from lab_tool.workspace import Workspace

VERSION = 1


def add_arguments(parser):
    parser.add_argument("--format", choices=("text", "json"), default="text", help="(text)")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write the grades there")


def run(options):
    if options.output and not options.output.absolute().parent.is_dir():
        raise LabError(f"{options.output.absolute().parent} is not a folder; make it first")
    catalogue = Catalogue()
    with contextlib.redirect_stdout(sys.stderr):
        grades = grade(catalogue)
    text = json.dumps(grades, indent=1) if options.format == "json" else spell(grades)
    if options.output:
        temporary = options.output.with_name(f".{options.output.name}.{os.getpid()}")
        temporary.write_text(text + "\n", encoding="utf-8")
        os.replace(temporary, options.output)
    else:
        say(text)
    return 0


def grade(catalogue):
    workspace = Workspace(catalogue)
    refuse_amiss(workspace)
    started = [lab for lab in catalogue.labs if workspace.counts(lab.number)]
    broken = {}
    if started:
        broken = build_without_broken(workspace, started)
    labs = []
    for lab in catalogue.labs:
        results = {}
        if lab in started:
            results = {result.task: result
                       for result in check_lab(catalogue, lab, broken=broken)}
        if lab in started and lab.hunt:
            hunt = check_hunt(workspace, lab)
            results[hunt.task] = hunt
        labs.append(grade_lab(catalogue, lab, results))
    return {"version": VERSION, "labs": labs,
            "points": sum(lab["points"] for lab in labs), "of": sum(lab["of"] for lab in labs)}


def grade_lab(catalogue, lab, results):
    """Returns the points of a lab's tasks; a task without a result is not started."""
    tasks, hunt = [], task_of(lab)
    for task in [*lab.tasks, *([hunt] if hunt else [])]:
        points = POINTS_OF_A_HUNT if task is hunt else catalogue.points_of(task.name)
        result = results.get(task.name)
        status = result.status if result else NOT_STARTED
        tasks.append({"task": task.name, "what": task.what, "status": status,
                      "reason": result.reason if result else "",
                      "points": points if status == PASSED else 0, "of": points})
    return {"lab": lab.number, "title": lab.title, "tasks": tasks,
            "points": sum(task["points"] for task in tasks),
            "of": sum(task["of"] for task in tasks)}


def spell(grades):
    lines = []
    for lab in grades["labs"]:
        lines.append(f"lab {lab['lab']} · {lab['title']}: {lab['points']} of {lab['of']}")
        width = max((len(task["task"]) for task in lab["tasks"]), default=0)
        for task in lab["tasks"]:
            reason = f": {task['reason']}" if task["reason"] else ""
            lines.append(f"  {task['task']:{width}}  {task['points']:2} of {task['of']:<2}  "
                         f"{task['status']}{reason}")
    lines.append(f"\n{grades['points']} of {grades['of']} points")
    return "\n".join(lines)
