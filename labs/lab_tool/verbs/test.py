"""Builds everything and runs the tests with ctest; its summary comes last.

    labs/lab test                            all tests, optimised build
    labs/lab test --preset debug -L unit     with address and UB sanitizers
    labs/lab test --preset tsan -L threads   with the thread sanitizer
    labs/lab test -R ring                    tests whose name matches

Failing tests are shown with their output; on a terminal, passing tests are only
counted. The whole output is in build/PRESET-test.log, and a JUnit file in
build/PRESET/junit.xml. Options after "--" are passed to ctest."""

import os

from lab_tool.building import build
from lab_tool.places import BUILD, ROOT
from lab_tool.process import become
from lab_tool.screen import say
from lab_tool.verbs.setup import install_missing

TARGETS = {"unit": "unit_tests", "processes": "unit_tests", "threads": "thread_tests"}


def add_arguments(parser):
    parser.add_argument("--preset", choices=("release", "debug", "tsan"), default="release",
                        help="which build to test (release)")
    parser.add_argument("-L", metavar="LABEL", help="only tests with this label: unit, processes, "
                        "threads, e2e, gpu, tool")
    parser.add_argument("-R", metavar="REGEX", help="only tests whose name matches")
    parser.add_argument("ctest_options", nargs="*", metavar="-- OPTIONS",
                        help="more options for ctest")


def targets_for(options):
    """Returns the targets of the labels; (), which means everything, if a label has none."""
    targets = dict.fromkeys(TARGETS.get(label) for label in (options.L or "").split("|"))
    return () if None in targets else tuple(targets)


def command_for(options):
    command = ["ctest", "--preset", options.preset, "--progress", "--output-on-failure",
               "--no-label-summary", "--output-log", str(BUILD / f"{options.preset}-test.log"),
               "--output-junit", str(BUILD / options.preset / "junit.xml"), "-j",
               str(len(os.sched_getaffinity(0)) + 4)]  # more than cores, since many tests wait
    filters = [word for pair in (("-L", options.L), ("-R", options.R)) if pair[1] for word in pair]
    return command + filters + options.ctest_options


def run(options):
    install_missing()
    build(options.preset, targets_for(options))
    say(f"run the tests of preset {options.preset}")
    become(command_for(options), ROOT)
