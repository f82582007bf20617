"""What one test case showed, told as a story: from Catch2's XML and from how the process ended.

The parent decides. A case has passed when its process wrote a whole result that says so and then
ended well; a process that leaves before that, by crash, exit or watchdog, has failed.
"""

import re
import signal
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field

from lab_tool.places import ROOT

PASSED, FAILED, NOT_STARTED, WAITS = "passed", "failed", "not started", "waits"
STORIES = 3  # failures of one case that are told
NOT_IMPLEMENTED = re.compile(r"\[lab(\d\d\.\d+)\] not started")
SANITIZER_ERROR = re.compile(r"==\d+==ERROR: (\w+Sanitizer): (.*)|^(\S+): runtime error: (.*)",
                             re.MULTILINE)
FRAME = re.compile(r"^ *#\d+ 0x\w+ in (.*?) (\S+\.[ch]pp):(\d+)", re.MULTILINE)
WATCH = "labs/check/watch.cpp"
RANK = re.compile(r"^== stack of (.*)$", re.MULTILINE)
TERMINATED = re.compile(r"terminate called after .*(?:\n +what\(\): +.*)?")


@dataclass
class Verdict:
    name: str  # of the test case
    status: str
    reason: str = ""  # one line: why it failed
    story: list = field(default_factory=list)
    waits_for: str = ""  # the task not begun that the case ran into
    seconds: float = 0.0
    late: bool = False  # the watchdog ended it


def judge(name, ended, result, limits, root=ROOT):
    """The verdict on the case `name` whose process has `ended` and whose result file says
    `result`: text, or "" where there is none."""
    verdict = Verdict(name, FAILED, seconds=ended.seconds, late=ended.killed_for == "time")
    missing = NOT_IMPLEMENTED.search(result + ended.output)
    case = case_of(result)
    if missing:
        verdict.status, verdict.waits_for = NOT_STARTED, missing[1]
        verdict.reason = f"task {missing[1]} is not started"
    elif ended.killed_for == "time":
        verdict.reason = f"did not end within {limits.seconds:g} s: an endless loop, or a deadlock"
        verdict.story = where_threads_are(ended.stacks, root)
    elif ended.killed_for == "output":
        verdict.reason = f"wrote more than {limits.output_bytes >> 20} MiB to the screen"
        verdict.story = ["it began so:"] + ["  " + line for line in first_lines(ended.output)]
    elif case is not None and case.find("OverallResult").get("success") != "true":
        verdict.reason, verdict.story = "an expectation did not hold", told(case)
    elif case is None or ended.code != 0:
        verdict.reason = how_it_ended(ended, case is not None)
        verdict.story = crash_story(ended, root)
    else:
        verdict.status = PASSED
    return verdict


def judge_all(result):
    """{name: verdict} of the cases that a whole result of many tells of."""
    try:
        cases = xml.fromstring(result).iter("TestCase")
    except xml.ParseError:
        return {}
    return {case.get("name"): judge_told(case) for case in cases
            if case.find("OverallResult") is not None}


def judge_told(case):
    """The verdict on one of many cases, from what the result tells of it."""
    missing = NOT_IMPLEMENTED.search(xml.tostring(case, encoding="unicode"))
    seconds = float(case.find("OverallResult").get("durationInSeconds", 0))
    verdict = Verdict(case.get("name"), PASSED, seconds=seconds)
    if missing:
        verdict.status, verdict.waits_for = NOT_STARTED, missing[1]
        verdict.reason = f"task {missing[1]} is not started"
    elif case.find("OverallResult").get("success") != "true":
        verdict.status, verdict.reason = FAILED, "an expectation did not hold"
        verdict.story = told(case)
    return verdict


def case_of(result):
    """The test case's element of a whole result, or None."""
    try:
        case = xml.fromstring(result).find(".//TestCase")
    except xml.ParseError:
        return None
    return case if case is not None and case.find("OverallResult") is not None else None


def told(case):
    """The failures of a case, step by step: what was tried, expected, and came."""
    stories, before = [], None
    for section in case.iter():
        if section.tag not in ("TestCase", "Section"):
            continue
        steps = [section.get("name")] if section.tag == "Section" else []
        for element in section:
            text = " ".join((element.text or "").split("\n")).strip()
            if element.tag in ("Info", "Warning"):
                steps += (element.text or "").strip().split("\n")
            elif element.tag in ("Expression", "Exception", "Failure", "FatalErrorCondition"):
                stories.append(([] if steps == before else steps) + spell(element, text))
                before, steps = steps, []
    lines = [line for story in stories[:STORIES] for line in story]
    if len(stories) > STORIES:
        lines.append(f"and {len(stories) - STORIES} more like these")
    return lines


def spell(element, text):
    """One failed expectation: its code, its values and its place."""
    place = f"  at {shortened(element.get('filename', ''))}:{element.get('line')}"
    if element.tag != "Expression":
        kind = {"Exception": "threw: ", "FatalErrorCondition": "crashed: "}.get(element.tag, "")
        return [kind + text, place]
    original, expanded = (" ".join((element.findtext(tag) or "").split())
                          for tag in ("Original", "Expanded"))
    lines = [f"{element.get('type')}( {original} )"]
    if expanded and expanded != original:
        lines.append(f"  was {expanded}")
    exception = element.find("Exception")
    if exception is not None:
        lines.append("  threw: " + " ".join((exception.text or "").split()))
    return lines + [place]


def how_it_ended(ended, has_result):
    found = SANITIZER_ERROR.search(ended.output)
    if found and found[1]:
        return f"{found[1]}: {found[2].split(' (pc')[0].split(' on address')[0]}"
    if found:
        return f"undefined behaviour: {found[4]}"
    if "hard rss limit exhausted" in ended.output:
        return "used more memory than a case may have"
    if ended.code < 0:
        return f"was ended by {signal.Signals(-ended.code).name}"
    if has_result:
        return f"ended with exit code {ended.code} after its last check"
    return f"left with exit code {ended.code} before its result was written (exit? _exit?)"


def crash_story(ended, root):
    """What a crashed process said about its end."""
    lines = []
    said = TERMINATED.search(ended.output)
    if said:
        lines += [line.strip() for line in said[0].split("\n")]
    lines += frames_of(ended.output, root)
    words = [] if lines else last_lines(ended.output)
    return lines + (["its last words:"] + ["  " + line for line in words] if words else [])


def frames_of(text, root, most=4):
    """The frames of the first stack in `text` that are in the repository; the learner's first."""
    frames = []
    for function, path, line in FRAME.findall(text):
        where = shortened(path, root)
        if where.startswith(("work/", "libmini/", "labs/")) and where != WATCH:
            frames.append(f"in {named(function)} at {where}:{line}")
    frames = list(dict.fromkeys(frames))[:12]
    frames.sort(key=lambda frame: " at work/" not in frame)  # stable: the order stays otherwise
    return frames[:most]


def where_threads_are(stacks, root):
    """One line per thread that is in the repository's code: its rank, and where it waits."""
    lines = []
    for stack in stacks:
        head = RANK.search(stack)
        frames = frames_of(stack, root, most=2)
        if head and frames:
            lines.append(f"{head[1]} was {frames[0]}")
            lines += ["  " + frame for frame in frames[1:]]
    return lines


def named(function):
    """A function without its arguments and our outer namespace."""
    name = function.replace("mini::", "").replace("(anonymous namespace)::", "")
    name = re.sub(r"[<(].*", "", name).split(" ")[-1]
    return "the check" if name.startswith("C_A_T_C_H_T_E_S_T_") else name


def shortened(path, root=ROOT):
    """A path in the repository; compilers name it from the root, or from the build's folder."""
    return path.removeprefix(f"{root}/").removeprefix("../" * 2)


def first_lines(text):
    return [line[:90] for line in text.split("\n")[:3]]


def last_lines(text):
    return [line[:90] for line in text.strip().split("\n")[-5:] if line]
