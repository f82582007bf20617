"""Checks this machine, and changes nothing: first what the build needs, then,
with the built tool mini, what ranks need (build/PRESET/bin/mini doctor).

Each line has ok, info, warn or fail; the remedy is below it. The exit code is 1
if a check fails.
"""

import sys
import textwrap

from lab_tool.checks import CHECKS, Finding
from lab_tool.places import bin_dir, shown
from lab_tool.process import run_in_foreground
from lab_tool.screen import has_colours, say

COLUMNS = 80
COLOURS = {"ok": "32", "info": "36", "warn": "33", "fail": "31"}


def add_arguments(parser):
    parser.add_argument("-n", type=int, default=2, metavar="N", help="ranks on this machine (2)")
    parser.add_argument("--preset", default="release", help="the build of mini (release)")


def run(options):
    worst = set()
    for check in CHECKS:
        for finding in check():
            worst.add(finding.level)
            say(spell(finding))
    return 1 if run_mini(options) or "fail" in worst else 0


def run_mini(options):
    """Runs `mini doctor`, whose table has the same form; returns its exit code."""
    mini = bin_dir(options.preset) / "mini"
    if mini.exists():
        return run_in_foreground([str(mini), "doctor", "-n", str(options.n)])
    say(spell(Finding("info", "ranks", f"not checked: no {shown(mini)}",
                      "labs/lab mini doctor builds it and checks GPUs, limits and network")))
    return 0


def spell(finding):
    """Returns one line, and a second one if there is a remedy, as `mini doctor` prints them."""
    text = wrapped(f"{finding.level:4}  {finding.what:24}{finding.found}")
    if finding.remedy:
        text += "\n" + wrapped(f"      -> {finding.remedy}")
    if has_colours(sys.stdout):
        text = f"\033[{COLOURS[finding.level]}m{text[:4]}\033[0m{text[4:]}"
    return text


def wrapped(line):
    return "\n".join(textwrap.wrap(line, COLUMNS, subsequent_indent=" " * 6, drop_whitespace=True,
                                   break_long_words=False, break_on_hyphens=False))
