"""Checks every lab that is started and adds up points for each task that
passes.

    labs/lab grade                                       text, on stdout
    labs/lab grade 7 9                                   only these labs
    labs/lab grade --format junit --output grades.xml    for CI; also json
    labs/lab grade --submission ada.zip --user student   as another user

A task has the points of its row in the table of the lab's page, 80 % of them if
a main file of it is guided (labs/lab start --help); a bug hunt has 10, and your
own test gives bonus points. --output is written again after each lab, so that a
grader that is stopped has graded what it had checked; stdout then has the text,
and stderr the progress. The page Grading of libmini explains --user and review."""

import contextlib
import io
import os
import sys
import time
from pathlib import Path

from grader.review import findings
from lab_tool import report, submission
from lab_tool.building import build_without_broken
from lab_tool.catalogue import Task
from lab_tool.checking import TaskResult, check_lab, program_of
from lab_tool.confine import confined_to
from lab_tool.grade_formats import FORMATS, clean, failure
from lab_tool.hunts import check_hunt
from lab_tool.places import replace_file
from lab_tool.projection import OWN_TEST, own_test
from lab_tool.runner import Limits
from lab_tool.screen import LabError, say
from lab_tool.verdict import NOT_STARTED, PASSED
from lab_tool.workspace import GUIDED_PERCENT, Workspace


def add_arguments(parser):
    parser.add_argument("numbers", nargs="*", metavar="N", help="only these labs; also as 7,9")
    parser.add_argument("--format", choices=FORMATS, default="text", help="(text)")
    parser.add_argument("--output", metavar="FILE", type=Path, help="write the grades there")
    parser.add_argument("--submission", metavar="PATH", type=Path,
                        help="grade this folder or zip of labs/lab submit, in place of work/")
    parser.add_argument("--user", default="", metavar="NAME",
                        help="run student code as this user (needs root)")


def run(options):
    if options.output and not options.output.absolute().parent.is_dir():
        raise LabError(f"{options.output.absolute().parent} is not a folder; make it first")
    try:
        text = grade_as(options)
    except LabError as error:
        if options.output and options.format == "gradescope":  # students see only its result
            replace_file(options.output, failure(str(error)) + "\n")
        raise
    say(text)
    return 0


def grade_as(options):
    """Grades, and writes --output. Returns the text for stdout."""
    if options.submission:
        submission.unpack(options.submission)
    confinement = confined_to(options.user)
    if os.geteuid() == 0 and not options.user:
        say("lab: student code runs as root; --user student is safer", file=sys.stderr)
    workspace, start = Workspace(), time.monotonic()

    def write(labs):
        grades = summary(labs, time.monotonic() - start)
        if options.output:
            replace_file(options.output, FORMATS[options.format](grades) + "\n")
        return grades

    with contextlib.redirect_stdout(sys.stderr):
        numbers = [number.strip() for number in ",".join(options.numbers).split(",") if number]
        labs = list(map(workspace.catalogue.lab, numbers)) or workspace.catalogue.labs
        grades = write(grade(workspace, labs, confinement, write))
    return FORMATS["text" if options.output else options.format](grades)


def grade(workspace, labs, confinement, write):
    """Checks the labs; returns their grades, and before each lab writes the grades so far."""
    workspace.refuse_misplaced()
    started = [lab for lab in labs if workspace.started(lab.number)]
    grades = {lab.number: grade_lab(lab, {}, workspace) for lab in labs}
    broken = build_without_broken(workspace, started) if started else {}
    for lab in started:
        confinement.check(program_of(lab.number))
    for lab in started:
        write(list(grades.values()))
        results = {result.task: result for result in check_lab(
            workspace, lab, broken, limits=Limits(confinement=confinement))}
        more = [check_hunt(workspace, lab, confinement)] if lab.hunt else []
        if own_test(workspace, lab).exists() and not workspace.catalogue.course:
            from lab_tool.verbs.test_yours import check_own_test  # a course lacks it

            more.append(check_own_test(workspace, lab, confinement))
        results |= {result.task: result for result in more}
        confinement.end_processes()
        grades[lab.number] = grade_lab(lab, results, workspace)
    return list(grades.values())


def grade_lab(lab, results, workspace):
    """Returns the points of a lab's tasks; a task without a result is not started."""
    tasks = []
    own = Task(f"{lab.number}.test", "Your own test", OWN_TEST, "")
    for task in [*lab.all_tasks, *[own] * (own.name in results)]:
        result = results.get(task.name) or TaskResult(task.name, NOT_STARTED)
        has_passed = result.status == PASSED
        note = f"guided: {GUIDED_PERCENT} %" if has_passed and workspace.is_guided(task.name) else ""
        tasks.append({"task": task.name, "what": task.what, "status": result.status,
                      "reason": clean(result.reason) or note,
                      "points": workspace.points(task) * has_passed + result.bonus, "of": task.of,
                      "seconds": round(sum(each.seconds for each in result.verdicts), 3),
                      "output": story_of(result)})
    return {"lab": lab.number, "title": lab.title, "tasks": tasks,
            "review": list(findings(workspace, lab)) if results else [],
            "points": sum(task["points"] for task in tasks),
            "of": sum(task["of"] for task in tasks)}


def story_of(result):
    """Returns the failure of a task as labs/lab check prints it; "" if it has not failed."""
    with contextlib.redirect_stdout(io.StringIO()) as told:
        report.say_stories([result])
    return clean(told.getvalue().strip())


def summary(labs, seconds):
    return {"version": 1, "labs": labs, "points": sum(lab["points"] for lab in labs),
            "of": sum(lab["of"] for lab in labs), "seconds": round(seconds, 3)}
