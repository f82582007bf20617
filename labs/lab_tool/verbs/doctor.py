"""Checks this machine: tools, libraries, memory, network, data. Changes nothing.

Each line has ok, warn or fail, and the next step if there is one. The exit code is 1 if a check
fails.
"""

import os
import sys

from lab_tool.checks import CHECKS
from lab_tool.screen import is_terminal, say

COLOURS = {"ok": "32", "info": "36", "warn": "33", "fail": "31"}


def add_arguments(parser):
    del parser  # it has no options


def run(options):
    del options
    worst = set()
    for check in CHECKS:
        for finding in check():
            worst.add(finding.level)
            say(spell(finding))
    return 1 if "fail" in worst else 0


def spell(finding):
    """ok    cmake: 3.25.1"""
    level = f"{finding.level:4}"
    if is_terminal(sys.stdout) and "NO_COLOR" not in os.environ:
        level = f"\033[{COLOURS[finding.level]}m{level}\033[0m"
    line = f"{level}  {finding.what}: {finding.found}"
    return line + (f" -> {finding.next_step}" if finding.next_step else "")
