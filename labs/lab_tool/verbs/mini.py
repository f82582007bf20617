"""Runs libmini's command-line tool, and with --mine your own code in it: the
library with your files of work/, of all labs.

    labs/lab mini --mine indices partition --len 10 --sizes 0.5,0.5

The words after --mine are those of mini; labs/lab mini indices --help explains
a command. Builds the program first; what it prints about that goes to stderr."""

import argparse
import contextlib
import sys

from lab_tool.building import build
from lab_tool.places import BIN, PRESET, ROOT
from lab_tool.process import become
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("--mine", action="store_true", help="with your own code from work/")
    parser.add_argument("words", nargs=argparse.REMAINDER, metavar="COMMAND OPTIONS",
                        help="what mini does: indices, bench, ...")


def run(options):
    program = "mini_mine" if options.mine else "mini"
    if options.mine:
        Workspace().refuse_misplaced()
    with contextlib.redirect_stdout(sys.stderr):
        build(PRESET, [program])
    become([str(BIN / program), *options.words], ROOT)
