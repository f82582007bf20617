"""Builds everything and runs the tests with ctest; its summary comes last.

    labs/lab test                            all tests, optimised build
    labs/lab test --preset debug -L unit     with address and UB sanitizers
    labs/lab test --preset tsan -L threads   with the thread sanitizer
    labs/lab test -R ring                    tests whose name matches

Passing tests are only counted; failing tests are shown with their output, and
the five slowest tests with their seconds. A JUnit file is written to
build/PRESET/junit.xml. Options after "--" are passed to ctest.
"""

import os
import re

from lab_tool.building import build
from lab_tool.places import BUILD, ROOT, fresh_log
from lab_tool.process import run_logged
from lab_tool.screen import ProgressLine, say
from lab_tool.verbs.setup import install_missing

STARTED = re.compile(r"^ +Start +\d+: ")
ENDED = re.compile(r"^ *(\d+)/(\d+) Test +#\d+: (.*?) \.*[ *]+(\w[\w ]*?) +([\d.]+) sec *$")
SUMMARY = re.compile(r"^\d+% tests passed")
SLOWEST = 5
TARGETS = {"unit": "unit_tests", "processes": "unit_tests", "threads": "thread_tests"}
NOISE = re.compile(r"^(Test project |Internal ctest changing into directory|$)")


def usual_tests_at_a_time():
    return len(os.sched_getaffinity(0)) + 2


def add_arguments(parser):
    parser.add_argument("--preset", choices=("release", "debug", "tsan"), default="release",
                        help="which build to test (release)")
    parser.add_argument("-L", metavar="LABEL", help="only tests with this label: unit, processes, "
                        "threads, e2e, gpu, tool")
    parser.add_argument("-R", metavar="REGEX", help="only tests whose name matches")
    parser.add_argument("-j", type=int, default=usual_tests_at_a_time(), metavar="N",
                        help="tests at a time (two more than cores, since many of them wait)")
    parser.add_argument("ctest_options", nargs="*", metavar="-- OPTIONS",
                        help="more options for ctest")


def targets_for(options):
    """Returns the targets to build: the targets of the labels, if each label has one,
    else (), which means everything."""
    labels = (options.L or "").split("|")
    if not all(label in TARGETS for label in labels):
        return ()
    return tuple(dict.fromkeys(TARGETS[label] for label in labels))


def command_for(options):
    command = ["ctest", "--preset", options.preset, "--output-on-failure", "--no-label-summary",
               "--output-junit", str(BUILD / options.preset / "junit.xml"), "-j", str(options.j)]
    for flag, value in (("-L", options.L), ("-R", options.R)):
        if value:
            command += [flag, value]
    return command + options.ctest_options


def run(options):
    install_missing()
    build(options.preset, targets_for(options))
    say(f"run the tests of preset {options.preset}")
    log_path = fresh_log(f"{options.preset}-test")
    with ProgressLine("  testing") as progress, open(log_path, "w", encoding="utf-8") as log:
        return run_logged(command_for(options), log, CTestOutput(progress).show, cwd=ROOT)


class CTestOutput:
    """Filters ctest's output for the user: progress, failures, the slowest tests, and ctest's own
    summary as the last lines."""

    def __init__(self, progress):
        self.progress = progress
        self.times = []  # (seconds, name)

    def show(self, line):
        ended = ENDED.match(line)
        if ended:
            self.times.append((float(ended[5]), ended[3]))
        if ended and ended[4] == "Passed":
            self.progress.show(int(ended[1]), int(ended[2]), ended[3])
        elif not STARTED.match(line) and not NOISE.match(line):
            if SUMMARY.match(line):
                self.show_slowest()
            self.progress.pass_on(line)

    def show_slowest(self):
        if len(self.times) > SLOWEST:
            self.progress.pass_on("the slowest:")
            for seconds, name in sorted(self.times, reverse=True)[:SLOWEST]:
                self.progress.pass_on(f"  {seconds:6.1f} s  {name}")
