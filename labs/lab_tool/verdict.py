"""The verdict on one test case, from Catch2's XML result and from the exit status of its process.

The parent process decides. A case has passed if its process wrote a complete result with success,
returned the token (runner.py), and then ended with exit code 0. A case has failed if its process
ended earlier, by a crash, an exit or the watchdog."""

import html
import re
import signal
import xml.etree.ElementTree as xml
from dataclasses import dataclass, field

from lab_tool.compile_errors import shortened
from lab_tool.not_written import short_name
from lab_tool.places import ROOT

PASSED, FAILED, NOT_STARTED, WAITS = "passed", "failed", "not started", "waits"
STORIES = 3  # failures of one case that are printed, each of a different line of code
# MINI_TODO of a starter, or of a function that the learner's file lacks (not_written.py).
NOT_IMPLEMENTED = re.compile(r"\[lab(\d\d\.\d+(?:,\d\d\.\d+)*)\] not started:?"
                             r"(?: (work/\S+ does not define (?:(?!</)[^\n])+))?")
SANITIZER_ERROR = re.compile(r"==\d+==ERROR: (\w+Sanitizer): (.*)|^(\S+): runtime error: (.*)",
                             re.MULTILINE)
ASSERTION = re.compile(r"^\S+: .*: Assertion '(.*)' failed\.$", re.MULTILINE)  # of libstdc++
FRAME = re.compile(r"^ *#\d+ 0x\w+ in (.*?) (\S+\.(?:[ch]pp|cuh?)):(\d+)", re.MULTILINE)
OUT_OF_MEMORY = "hard rss limit exhausted"
WATCH = "labs/check/watch.cpp"
RANK = re.compile(r"^== stack of (.*)$", re.MULTILINE)
# Catch2's words for an expectation that calls a function whose FAIL or REQUIRE has failed, after
# that failure itself.
ENDED_INSIDE = "Exception translation was disabled"
INFINITE = re.compile(r"\b(inf|nan)f\b")  # Catch2 writes an f after each float
OPERATORS = ("==", "!=", "<=", ">=", "<", ">")
# AddressSanitizer's headings of further stacks, and the standard library's words of std::out_of_range.
STACK_OF = re.compile(r"^(?:previously |Thread T\d+.* )?(allocated|freed|created) by ", re.MULTILINE)
OUT_OF_RANGE = re.compile(r"\w+::(?:at|_M_range_check|_M_check|substr)\b")
TERMINATED = re.compile(r"terminate called (?:after|without) .*(?:\n +what\(\): +.*)?")
NOT_JOINED = "terminate called without an active exception"


@dataclass
class Verdict:
    name: str  # of the test case
    status: str
    reason: str = ""  # one line: why it failed
    story: list = field(default_factory=list)
    waits_for: str = ""  # the unwritten task that the case called: "07.1"; or "07.1,07.4"
    lacks: str = ""  # the function that is not written: "work/a.cpp does not define cut"
    seconds: float = 0.0
    late: bool = False  # the watchdog ended the case


def judge(name, ended, result, limits, root=ROOT):
    """Returns the verdict on the case `name` from the end of its process and its result in XML."""
    verdict = Verdict(name, FAILED, seconds=ended.seconds, late=ended.killed_for == "time")
    case = next(iter(cases_of(result)), None)
    if note_missing(verdict, result + ended.output):
        return verdict
    if ended.killed_for == "time":
        verdict.reason = f"did not end within {limits.seconds:g} s: an endless loop, or a deadlock"
        verdict.story = where_threads_are(ended.stacks, root)
    elif ended.killed_for == "output":
        verdict.reason = f"wrote more than {limits.output_bytes >> 20} MiB to the screen"
        begin = ended.output.split("\n")[:3]
        verdict.story = ["its output began:", *("  " + line[:90] for line in begin)]
    elif case is not None and case.find(".//FatalErrorCondition") is not None:
        verdict.reason = how_it_ended(ended, False)
        verdict.story = told(case) + crash_story(ended, root)
    elif case is not None and case.find("OverallResult").get("success") != "true":
        verdict.reason, verdict.story = "an expectation did not hold", told(case)
    elif case is None or ended.code != 0 or not ended.token_returned:
        verdict.reason = how_it_ended(ended, case is not None)
        verdict.story = crash_story(ended, root)
    else:
        verdict.status = PASSED
    return verdict


def note_missing(verdict, text):
    """Notes in a verdict what is not written, if the text says so; returns whether it does."""
    missing = NOT_IMPLEMENTED.search(text)
    if missing:
        verdict.status, verdict.waits_for = NOT_STARTED, missing[1]
        verdict.lacks = html.unescape(missing[2] or "").strip()
        verdict.reason = verdict.lacks or f"task {missing[1]} is not started"
    return bool(missing)


def cases_of(result):
    """Returns the XML elements of the cases that have ended; none if the result is not complete."""
    try:
        found = xml.fromstring(result).iter("TestCase")
    except xml.ParseError:
        return []
    return [case for case in found if case.find("OverallResult") is not None]


def told(case):
    """Returns the failures of a case as lines, of each line of the check only the first."""
    stories, before, count = {}, None, 0
    tasks = ", ".join(re.findall(r"\[lab(\d\d\.\d+)\]", case.get("tags", ""))) or "your test"
    for section in case.iter():
        if section.tag not in ("TestCase", "Section"):
            continue
        steps = [section.get("name")] if section.tag == "Section" else []
        for element in section:
            if ENDED_INSIDE in element.findtext("Exception", ""):
                continue
            text = " ".join((element.text or "").split("\n")).strip()
            if element.tag in ("Info", "Warning"):
                steps += (element.text or "").strip().split("\n")
            elif element.tag in ("Expression", "Exception", "Failure", "FatalErrorCondition"):
                count += 1
                place = element.get("filename"), element.get("line")
                if place not in stories:
                    stories[place] = steps * (steps != before) + spell(element, text, tasks)
                    before = steps
                steps = []
    shown = list(stories.values())[:STORIES]
    lines = [line for story in shown for line in story]
    if count > len(shown):
        lines.append(f"and {count - len(shown)} more like {'this' if len(shown) == 1 else 'these'}")
    return lines


def spell(element, text, tasks):
    """Returns one failed expectation as lines: its code, its values, its file and line."""
    place = f"  at {shortened(element.get('filename', ''), ROOT)}:{element.get('line')}"
    if element.tag != "Expression":
        if element.tag == "FatalErrorCondition":  # after it comes what the sanitizer said
            return []
        return [thrown(text, tasks) if element.tag == "Exception" else text, place]
    original, expanded = (INFINITE.sub(r"\1", " ".join((element.findtext(tag) or "").split()))
                          for tag in ("Original", "Expanded"))
    exception, kind = element.find("Exception"), element.get("type", "")
    if kind.endswith("_FALSE"):  # Catch2 negates both, and the name says it already
        if original.startswith("!("):
            original = original.removeprefix("!(").removesuffix(")")
        expanded = expanded.removeprefix("!")
    told = "" if exception is None else thrown(" ".join((exception.text or "").split()), tasks)
    if "{Unknown expression" in original:  # it ended outside of an expectation, after this line
        return [told or "the case ended after this line", place]
    if exception is None:
        return [*values_of(original, expanded), f"{kind}( {original} )", place]
    return [f"{kind}( {original} )", "  " + told, place]


def thrown(text, tasks):
    """Returns what was thrown. The standard library says little: "map::at"."""
    what = f" (std::out_of_range: there is no such key or index), in a case of {tasks}"
    return f"threw: {text}{what * bool(OUT_OF_RANGE.match(text))}"


def values_of(original, expanded):
    """Returns lines with the learner's value, which stands on the left, and the expected value."""
    if expanded in ("", original) or "{?}" in expanded:
        return []
    for operator in OPERATORS:
        if f" {operator} " not in original:
            continue
        sides = expanded.split(f" {operator} ")
        if len(sides) != 2:
            return [f"yours {operator} expected: {expanded}"]
        return [f"yours     {sides[0]}",
                f"expected  {'' if operator == '==' else operator + ' '}{sides[1]}"]
    return f"yours     {expanded}".replace('" contains: "', '"\nexpected  a text with "').split("\n")


def how_it_ended(ended, has_result):
    assertion = ASSERTION.search(ended.output)
    if assertion:
        return f"an assertion of the standard library failed: {assertion[1]}"
    found = SANITIZER_ERROR.search(ended.output)
    if found and found[1]:
        return f"{found[1]}: {found[2].split(' (pc')[0].split(' on address')[0]}"
    if found:
        return f"undefined behaviour: {found[4]}"
    if OUT_OF_MEMORY in ended.output:
        return "used more memory than a case may have"
    if ended.code < 0:
        return f"was ended by {signal.Signals(-ended.code).name}"
    if has_result and ended.code == 0:
        return "its result was not written by the check: the process ended before the check did"
    if has_result:
        return f"ended with exit code {ended.code} after its last check"
    return f"exited with code {ended.code} before its result was written (exit? _exit?)"


def crash_story(ended, root):
    """Returns the lines of a crashed process's output that explain the crash."""
    lines = []
    said = TERMINATED.search(ended.output)
    if said:
        lines += [line.strip() for line in said[0].split("\n")]
        if said[0] == NOT_JOINED:
            lines[-1] += ": was a std::thread destroyed before join()?"
    lines += stacks_told(ended.output, root)
    words = [] if lines or OUT_OF_MEMORY in ended.output else last_lines(ended.output)
    return lines + (["the end of its output:"] + ["  " + line for line in words] if words else [])


def stacks_told(text, root):
    """Returns the frames of a sanitizer's report; of several stacks each with what was done there."""
    parts = ["freed again" if "double-free" in text else "used", *STACK_OF.split(text)]
    if len(parts) == 2:
        return frames_of(text, root)
    return [f"{'  ' if number else name + ' '}{frame}" for name, stack in zip(parts[::2], parts[1::2])
            for number, frame in enumerate(frames_of(stack, root, most=2))]


def frames_of(text, root, most=4):
    """Returns the frames in `text` that are in the repository; the learner's come first."""
    frames = []
    for function, path, line in FRAME.findall(text):
        where = shortened(path, root)
        if where.startswith(("work/", "libmini/", "labs/")) and where != WATCH:
            frames.append(f"in {named(function)} at {where}:{line}")
    frames = list(dict.fromkeys(frames))[:12]
    frames.sort(key=lambda frame: " at work/" not in frame)  # stable sort
    return frames[:most]


def where_threads_are(stacks, root):
    """Returns lines with the rank and the position of each thread in the repository's code."""
    lines = []
    for stack in stacks:
        head = RANK.search(stack)
        frames = frames_of(stack, root, most=2)
        if head and frames:
            lines.append(f"{head[1]} was {frames[0]}")
            lines += ["  " + frame for frame in frames[1:]]
    return lines


def named(function):
    """Returns a function's name without arguments and the namespace mini."""
    name = short_name(function).removeprefix("mini::")
    return "the check" if name.startswith("C_A_T_C_H_T_E_S_T_") else name


def last_lines(text, columns=90):
    return [line[:columns] for line in text.strip().split("\n")[-5:] if line]
