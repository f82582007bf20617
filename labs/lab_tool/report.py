"""Prints the results of a check for the learner."""

import re
import sys
import textwrap

from lab_tool.checking import program_of
from lab_tool.places import ROOT
from lab_tool.process import spell
from lab_tool.screen import has_colours, say
from lab_tool.verdict import FAILED, NOT_STARTED, PASSED, WAITS

COLOURS = {PASSED: "32", FAILED: "31", NOT_STARTED: "2", WAITS: "33"}
SIGNS = {PASSED: "✓", FAILED: "✗", NOT_STARTED: "·", WAITS: "·"}
ERRORS_SHOWN = 3
CASES_TOLD = 2  # failed cases of one task that are printed completely
COLUMNS = 80
MESSAGE_COLUMNS = 86  # a line of a check's source, indented
WHAT = 48


def coloured(text, status):
    if status not in COLOURS or not has_colours(sys.stdout):
        return text
    return f"\033[{COLOURS[status]}m{text}\033[0m"


def head(lab):
    return f"lab {lab.number} · {lab.title}"


def task_line(task, status, note=""):
    """  ✓ 07.2  Hand out one partition            passed"""
    sign = coloured(SIGNS.get(status, " "), status)
    name = "hunt" if task.is_hunt else task.name
    what = task.what if len(task.what) <= WHAT else task.what[:WHAT - 1] + "…"
    line = f"  {sign} {name}  {what:{WHAT}}  {coloured(status, status)}"
    if len(f"  x {name}  {what:{WHAT}}  {status}{note}") > COLUMNS:
        indent = " " * 11
        return "\n".join([line, *textwrap.wrap(note.strip(": "), COLUMNS, initial_indent=indent,
                                               subsequent_indent=indent, break_long_words=False,
                                               break_on_hyphens=False)])
    return line + note


def say_task(lab, result, gaps="", guided=False):
    """Prints a task's line. `gaps`: see Workspace.gaps()."""
    cases = len(result.verdicts)
    note = f" ({cases} {'case' if cases == 1 else 'cases'}{', guided: 80 %' if guided else ''})"
    note = note if result.status == PASSED else ""
    passed = sum(verdict.status == PASSED for verdict in result.verdicts)
    count = f"{passed} of {cases} cases passed; " if cases else ""
    if result.status in (NOT_STARTED, FAILED) and gaps:
        note = f": {count}still a gap: {gaps}"
    elif result.status in (WAITS, NOT_STARTED) and result.reason:
        note = f": {count if passed else ''}{result.reason}"
    say(task_line(lab.task(result.task), result.status, note))


def say_stories(results, hints_of=None):
    """Prints the failure of each failed task; one that several tasks share, such as a file that
    does not compile, once. hints_of(task): how many hints are left; None for grades."""
    told = {}
    for result in results:
        if result.status != FAILED:
            continue
        say()
        if not result.verdicts and told.setdefault(result.reason, result.task) != result.task:
            say(f"{result.task} failed for the same reason as {told[result.reason]}")
            continue
        say_wrapped(f"{result.task} failed: {result.reason}", "")
        for error in result.errors[:ERRORS_SHOWN]:
            first, *context = error.spelled()
            say_wrapped(first, "  ")
            for line in context:
                say("  " + line)
        failed = [verdict for verdict in result.verdicts if verdict.status == FAILED]
        for verdict in failed[:CASES_TOLD]:
            say_wrapped(f"case: {verdict.name}", "  ")
            for line in [verdict.reason, *verdict.story]:
                if line != result.reason:
                    say_wrapped(line, "    ")
        for verdict in failed[CASES_TOLD:]:
            say_wrapped(f"also fails: {verdict.name}", "  ")
        if failed and hints_of and ".hunt" not in result.task:  # a hunt has no cases
            program = program_of(result.task[:2]).relative_to(ROOT)
            command = ["gdb", "--args", program, "--break", re.sub(r"[\\,[].*", "*", failed[0].name)]
            say(f"  in a debugger: {spell(command)}")
        left = hints_of(result.task) if hints_of else 0
        if left:
            say(f"  stuck? labs/lab hint {result.task}  ({left} left)")


def say_wrapped(text, indent):
    own = indent + " " * (len(text) - len(text.lstrip()))
    for line in textwrap.wrap(text.strip(), MESSAGE_COLUMNS, initial_indent=own,
                              subsequent_indent=" " * (len(own) + 2), break_on_hyphens=False):
        say(line)


def say_summary(results):
    """Prints the number of passed tasks, and the next step if no task has failed."""
    passed = sum(result.status == PASSED for result in results)
    failed = any(result.status == FAILED for result in results)
    then = "" if failed else "; continue with: labs/lab next"
    say(f"\n{passed} of {len(results)} tasks pass{then}")
