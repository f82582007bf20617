"""Runs many cases of a check in one process, which is quicker than one process each, and tells which
fail as they would for a learner, whose cases have a process each."""

import html
import re
import xml.etree.ElementTree as xml

from lab_tool.checking import check_case, run_cases
from lab_tool.runner import Limits, ProcessResult
from lab_tool.verdict import FAILED, cases_of, judge

BEGUN = re.compile(r'<TestCase name="([^"]*)"')
TOGETHER_SECONDS = 120.0


def verdicts_together(program, names, limits, *options, **environment):
    """Runs many cases in one process, which is quicker than one process each. Returns
    {name: verdict} of the cases that ended, {} if the process ended early; and the name
    of the case that began last, "" if no case began."""
    ended, text = run_cases(program, names, limits, *options, **environment)
    return {} if ended.killed_for else judge_all(text), last_begun(text)


def last_begun(text):
    names = BEGUN.findall(text)
    return html.unescape(names[-1]) if names else ""


def check_together(program, names, **environment):
    """Returns the verdicts on many cases, for code that should neither crash nor hang. Cases
    without a verdict, because the process ended early, are run again, one per process."""
    limits = Limits(seconds=TOGETHER_SECONDS)
    together, _ = verdicts_together(program, names, limits, **environment)
    return [together.get(name) or check_case(program, name, **environment) for name in names]


def first_failure(program, names, limits_of, **environment):
    """Returns the verdict on the first case that fails in its own process, as for a learner,
    or None. First runs the cases together, until a case fails or ends the process. If it is
    the first case, it had the process for itself; another case is run again, and if it
    passes, all cases are run, each in its own process. One failure decides: each process ends
    with its first. `limits_of(names)`: the limits of a process that runs these cases."""
    together, last = verdicts_together(program, names, limits_of(names), "--abort", **environment)
    if list(together) == [last] and together[last].status == FAILED:
        return together[last]
    if len(together) == len(names) and together[last].status != FAILED:
        return None
    for name in dict.fromkeys([last or names[0], *names]):
        verdict = check_case(program, name, limits_of([name]), "--abort", **environment)
        if verdict.status == FAILED:
            return verdict
    return None


def judge_all(result):
    """Returns {name: verdict} of the cases in a complete result that did not end the process,
    because what it printed is a part of their verdict; {} if the result is not complete."""
    return {case.get("name"): judge(case.get("name"), ProcessResult(),
                                    xml.tostring(case, encoding="unicode"), Limits())
            for case in cases_of(result) if case.find(".//FatalErrorCondition") is None}
