"""Finds learner's files that include libmini's own source with the solution.

A compiler writes the files that it read for each object. The repository has the solutions as
sources, so `#include "/home/ada/libmini/libmini/data/partition.cpp"` would pass every check. (An
exported course has no solutions: labs/lab dev export.)
"""

import os
import re
import subprocess

from lab_tool.check_build import PRESET
from lab_tool.places import BUILD, ROOT

MINE = re.compile(r"/mine/(\d\d)/(\S+)\.o: #deps")


def copied_solutions(catalogue, labs):
    """Returns {(lab, path of the learner's file): path of libmini's file with a region}."""
    solutions = {region.path for region in catalogue.regions}
    found = {}
    for (lab, path), read in (dependencies().items() if labs else ()):
        for each in read:
            if each in solutions:
                found[lab, path] = each
    return found


def dependencies(folder=BUILD / PRESET):
    """Returns {(lab, path of a learner's file): the files that were read to compile it}, as Ninja
    stored them; paths are relative to the repository."""
    done = subprocess.run(["ninja", "-C", str(folder), "-t", "deps"], capture_output=True,
                          text=True, errors="replace", stdin=subprocess.DEVNULL)
    found, files = {}, []
    for line in done.stdout.splitlines():
        mine = MINE.search(line)
        if ": #deps" in line:
            files = found.setdefault((mine[1], mine[2]), []) if mine else None
        elif files is not None and line.strip():
            path = os.path.realpath(os.path.join(folder, line.strip()))
            files.append(os.path.relpath(path, ROOT))
    return found
