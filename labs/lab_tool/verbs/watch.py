"""Checks a lab again whenever you save a file of work/, until you press Ctrl-C."""

import time
from pathlib import Path

from lab_tool.catalogue import Catalogue
from lab_tool.places import ROOT
from lab_tool.screen import LabError, say
from lab_tool.state import State
from lab_tool.verbs.check import check, chosen

POLL_SECONDS = 0.5


def add_arguments(parser):
    parser.add_argument("what", metavar="N[.task]", nargs="?", default="",
                        help="a lab or a task (the lab you are at)")


def run(options):
    catalogue = Catalogue()

    def check_once():
        state = State()
        for lab, tasks in chosen(catalogue, state, options.what):
            try:
                check(catalogue, state, lab, tasks)
            except LabError as error:
                say(f"lab: {error}")
        say("\nwatching work/ (Ctrl-C ends)")

    watch(lambda: saved(ROOT / "work"), check_once, lambda: time.sleep(POLL_SECONDS))
    return 0


def saved(folder):
    """When each of the learner's files was last saved, and how large it is."""
    found = {}
    for path in Path(folder).rglob("*.[ch]pp"):
        try:
            status = path.stat()
        except FileNotFoundError:
            continue  # an editor has just replaced it
        found[str(path)] = (status.st_mtime_ns, status.st_size)
    return found


def watch(look, act, wait):
    """Acts at once, and then whenever what `look` sees has changed; ends with `wait`."""
    seen = look()
    act()
    while True:
        wait()
        now = look()
        if now != seen:
            seen = now
            act()
