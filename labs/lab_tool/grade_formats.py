"""The formats of grades: text, json, gradescope (results.json), junit (XML), classroom50 (result.json).

The output of a task may have been written by a learner's code: it is cut to MOST_OUTPUT
characters, and characters that XML or a terminal would misread are replaced.

    Gradescope   gradescope-autograders.readthedocs.io/en/latest/specs
    Classroom 50 github.com/foundation50/classroom50, Advanced Autograding: its result.json contract
    JUnit        testsuites > testsuite (a lab) > testcase (a task) > failure or skipped
"""

import json
import os
import re
import time
import xml.etree.ElementTree as xml

from lab_tool.verdict import FAILED, PASSED

MOST_OUTPUT = 16 << 10
CLASSROOM50 = {"classroom": "CLASSROOM", "assignment": "ASSIGNMENT", "submission": "SUBMISSION_TAG",
               "commit": "COMMIT_URL", "release": "RELEASE_URL", "review": "REVIEW_URL"}
ESCAPE = re.compile(r"\x1b(?:\[[0-9;?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|.)?", re.DOTALL)
NOT_IN_XML = re.compile(r"[^\t\n\x20-\x7e\xa0-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


def clean(text, most=MOST_OUTPUT):
    """Returns the beginning and the end of a text, without what XML or a terminal would misread."""
    if len(text) > most:
        text = f"{text[:most // 2]}\n... {len(text) - most} characters left out ...\n" \
               f"{text[-(most // 2):]}"
    return NOT_IN_XML.sub("?", ESCAPE.sub("", text.replace("\r\n", "\n")))


def spell(grades):
    """Returns the grades as text for people; the sum is the last line."""
    lines = []
    for lab in grades["labs"]:
        lines.append(f"lab {lab['lab']} · {lab['title']}: {lab['points']} of {lab['of']}")
        width = max((len(task["task"]) for task in lab["tasks"]), default=0)
        for task in lab["tasks"]:
            reason = f": {task['reason']}" if task["reason"] else ""
            most = f"of {task['of']:<2}" if task["of"] else "bonus"
            lines.append(f"  {task['task']:{width}}  {task['points']:2} {most}  "
                         f"{task['status']}{reason}")
        lines += [f"  review: {found}" for found in lab["review"]]
    return "\n".join([*lines, f"\n{grades['points']} of {grades['of']} points"])


def as_gradescope(grades):
    tests = [gradescope_test(task) for lab in grades["labs"] for task in lab["tasks"]]
    return json.dumps({
        "score": grades["points"],
        "output": f"{grades['points']} of {grades['of']} points",
        "output_format": "text", "test_output_format": "text", "visibility": "visible",
        "stdout_visibility": "hidden", "execution_time": round(grades["seconds"]),
        "tests": tests}, indent=1)


def failure(reason):
    """Returns a result of Gradescope for a submission that cannot be graded."""
    return json.dumps({"score": 0, "output": clean(reason), "output_format": "text",
                       "visibility": "visible", "stdout_visibility": "hidden"}, indent=1)


def gradescope_test(task):
    return {"name": f"{task['task']} {task['what']}", "number": task["task"],
            "score": task["points"], "max_score": task["of"],
            "status": "passed" if task["status"] == PASSED else "failed",
            "output": task["output"] or task["reason"] or task["status"], "visibility": "visible",
            "tags": [f"lab{task['task'][:2]}"]}


def as_classroom50(grades):
    """Has the submission's names from the runner's variables. No score may be above the maximum, so
    bonus points count for both."""
    tests = [{"test-name": f"{task['task']} {task['what']}", "passed": task["status"] == PASSED,
              "score": task["points"], "max-score": max(task["points"], task["of"])}
             for lab in grades["labs"] for task in lab["tasks"]]
    return json.dumps({
        "schema": "classroom50/result/v1", "datetime": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        **{name: os.environ.get(variable, "") for name, variable in CLASSROOM50.items()},
        **{name: sum(test[name] for test in tests) for name in ("score", "max-score")},
        "tests": tests}, indent=1)


def as_junit(grades):
    top = xml.Element("testsuites", name="libmini")
    for lab in grades["labs"]:
        states = [task["status"] for task in lab["tasks"]]
        failed, passed = states.count(FAILED), states.count(PASSED)
        suite = xml.SubElement(top, "testsuite", name=f"lab {lab['lab']}: {lab['title']}",
                               tests=str(len(states)), failures=str(failed),
                               skipped=str(len(states) - failed - passed),
                               time=f"{sum(task['seconds'] for task in lab['tasks']):.3f}")
        properties = xml.SubElement(suite, "properties")
        for name in ("points", "of"):
            xml.SubElement(properties, "property", name=name, value=str(lab[name]))
        for task in lab["tasks"]:
            case = xml.SubElement(suite, "testcase", classname=f"lab{task['task'][:2]}",
                                  name=f"{task['task']} {clean(task['what'])}",
                                  time=f"{task['seconds']:.3f}")
            if task["status"] == FAILED:
                failure = xml.SubElement(case, "failure", type="failed", message=clean(task["reason"]))
                failure.text = task["output"]
            elif task["status"] != PASSED:  # not started, or waits for another task
                xml.SubElement(case, "skipped", message=clean(task["reason"] or task["status"]))
            elif task["reason"]:
                xml.SubElement(case, "system-out").text = task["reason"]
    xml.indent(top, " ")
    return '<?xml version="1.0" encoding="UTF-8"?>\n' + xml.tostring(top, encoding="unicode")


FORMATS = {"text": spell, "json": lambda grades: json.dumps(grades, indent=1),
           "gradescope": as_gradescope, "classroom50": as_classroom50, "junit": as_junit}
