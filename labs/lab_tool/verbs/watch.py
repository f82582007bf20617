"""Checks a lab again whenever you save a file of work/, until you press Ctrl-C."""

import contextlib
import time
from pathlib import Path

from lab_tool.catalogue import Catalogue
from lab_tool.places import ROOT
from lab_tool.regions import SUFFIXES
from lab_tool.screen import LabError, say
from lab_tool.state import State
from lab_tool.verbs.check import check, chosen

POLL_SECONDS = 0.5


def add_arguments(parser):
    parser.add_argument("what", metavar="N[.task]", nargs="?", default="",
                        help="a lab or a task (the lab you are at)")


def run(options):
    catalogue = Catalogue()
    chosen(catalogue, State(), options.what)  # a misspelt name is an error immediately
    watch(lambda: saved(ROOT / "work"), lambda: check_once(catalogue, options.what),
          lambda: time.sleep(POLL_SECONDS))
    return 0


def check_once(catalogue, what):
    """Checks once; prints an error instead of raising it, because the next save may fix it."""
    try:
        state = State()
        for lab, tasks in chosen(catalogue, state, what):
            check(catalogue, state, lab, tasks)
    except (LabError, OSError) as error:
        say(f"lab: {error}")
    say("\nwatching work/ (Ctrl-C ends)")


def saved(folder):
    """Returns {path: (time of the last change, size)} of the learner's files."""
    found = {}
    with contextlib.suppress(FileNotFoundError):  # a folder may be deleted while it is read
        for path in Path(folder).rglob("*.*"):
            if path.suffix not in SUFFIXES or ".backup" in path.parts:
                continue
            with contextlib.suppress(FileNotFoundError):  # an editor has just replaced it
                status = path.stat()
                found[str(path)] = (status.st_mtime_ns, status.st_size)
    return found


def watch(look, act, wait):
    """Calls act(), and again whenever the result of look() has changed; ends if wait() raises."""
    seen = look()
    act()
    while True:
        wait()
        now = look()
        if now != seen:
            seen = now
            act()
