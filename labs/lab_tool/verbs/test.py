"""Builds everything and runs the tests with ctest; its summary comes last.

    labs/lab test                            all tests, optimised build
    labs/lab test --preset debug -L unit     with address and UB sanitizers
    labs/lab test --preset tsan -L threads   with the thread sanitizer
    labs/lab test -R ring                    tests whose name matches

Passing tests are only counted; failing tests are shown with their output. The
whole output is in build/PRESET-test.log, and a JUnit file in
build/PRESET/junit.xml. Options after "--" are passed to ctest.
"""

import os
import re

from lab_tool.building import build
from lab_tool.places import BUILD, ROOT, fresh_log
from lab_tool.process import run_logged
from lab_tool.screen import ProgressLine, say
from lab_tool.verbs.setup import install_missing

PASSED = re.compile(r"^ *(\d+)/(\d+) Test +#\d+: (.*?) \.* +Passed ")
TARGETS = {"unit": "unit_tests", "processes": "unit_tests", "threads": "thread_tests"}
NOISE = re.compile(r"^( +Start +\d+: |Test project |Internal ctest changing into directory|$)")


def add_arguments(parser):
    parser.add_argument("--preset", choices=("release", "debug", "tsan"), default="release",
                        help="which build to test (release)")
    parser.add_argument("-L", metavar="LABEL", help="only tests with this label: unit, processes, "
                        "threads, e2e, gpu, tool")
    parser.add_argument("-R", metavar="REGEX", help="only tests whose name matches")
    parser.add_argument("-j", type=int, default=len(os.sched_getaffinity(0)) + 2, metavar="N",
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
        return run_logged(command_for(options), log, lambda line: show(line, progress), cwd=ROOT)


def show(line, progress):
    """Shows a line of ctest's output; of a passing test only the progress."""
    passed = PASSED.match(line)
    if passed:
        progress.show(int(passed[1]), int(passed[2]), passed[3])
    elif not NOISE.match(line):
        progress.pass_on(line)
