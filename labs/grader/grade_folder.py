#!/usr/bin/env python3
"""Grades each submission in a folder, and writes the marks to stdout as CSV.

    labs/grader/grade_folder.py submissions 7 > marks.csv
    labs/grader/grade_folder.py submissions 7,9 --user student > marks.csv

A submission is a zip of labs/lab submit, or a student's folder with the zip, as
Moodle makes it. There is a row for each submission and lab. The column review
names what an instructor should read, because honest work seldom has it. It
changes no points, since each finding may have a good reason:

    work/07-partition/partition.cpp:9 has Catch::   libmini's file has it not
    ... has 3 of 60 lines of the hunt               replaced, not repaired
    ... has 12 of 13 lines of the guided frame      graded as from nothing"""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LABS = Path(__file__).resolve().parents[1]
sys.path.insert(0, str(LABS))

from lab_tool.projection import files_of  # noqa: E402
from lab_tool.workspace import Workspace  # noqa: E402

STRANGE = re.compile(
    r"\bnamespace\s+Catch\b|\bCatch::|\.incbin|\basm\b|\b__asm\w*|\bMINI_(?:TOKEN|MUTANT)\b|/proc/"
    r"|\b_*(?:at|quick_|at_quick_)?[eE]xit\s*\(|\bexec[lv]\w*\s*\(|\bdl(?:open|sym)\b"
    r"|#\s*include\s+\S+\.(?:cpp|cu|o)\b")
LEAST_LINES, LEAST_LETTERS = 5, 20  # of a frame, and of a line that is compared
NO_LINE = ("namespace", "}", "[lab", "MINI_TODO", '"')  # shared by all files, or by no solution


def rows_of(path, options):
    """Grades a submission; yields its rows, or one with the reason if it cannot be graded."""
    zips = list(path.glob("*.zip"))
    with tempfile.NamedTemporaryFile("r", encoding="utf-8") as file:
        done = subprocess.run(
            [LABS / "lab", "grade", options.labs, "--submission", zips[0] if len(zips) == 1 else path,
             "--format", "json", "--output", file.name, "--user", options.user],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        grades = Path(file.name).read_text(encoding="utf-8")  # which the tool has replaced
    if done.returncode:
        yield path.name, "", "", "", (done.stderr.strip().split("\n"))[-1]
        return
    workspace = Workspace()
    for lab in json.loads(grades)["labs"]:
        found = findings(workspace, workspace.catalogue.lab(lab["lab"]))
        yield path.name, lab["lab"], lab["points"], lab["of"], "; ".join(found)


def findings(workspace, lab):
    """Yields one line for each finding in the files of work/ of a lab."""
    hunt = {lab.hunt: workspace.name(lab.hunt)} if lab.hunt and workspace.mine(lab.hunt) else {}
    for path, name in (files_of(workspace, {lab.number}) | hunt).items():
        text = (workspace.folder / name).read_text(encoding="utf-8", errors="replace")
        known = workspace.reference(path) if (workspace.root / path).exists() else ""
        for number, line in enumerate(text.split("\n"), 1):
            for found in STRANGE.finditer(line):
                if found[0] not in known:
                    yield f"work/{name}:{number} has {found[0]}"
        mine = long_lines(text)
        if path in hunt:
            whole = long_lines(known)
            if 2 * len(whole & mine) < len(whole):
                yield f"work/{name} has {len(whole & mine)} of {len(whole)} lines of the hunt"
        elif known and workspace.is_core(path) and workspace.is_whole(path):
            whole = long_lines(workspace.starter(path, guided=True)) - long_lines(workspace.starter(path))
            if len(whole) >= LEAST_LINES and 2 * len(whole & mine) > len(whole):
                yield f"work/{name} has {len(whole & mine)} of {len(whole)} lines of the guided frame"


def long_lines(text):
    """Returns the lines that two files do not share by chance, without comment marks and braces."""
    lines = (line.strip("/ {") for line in text.split("\n"))
    return {line for line in lines if len(line) >= LEAST_LETTERS and not line.startswith(NO_LINE)}


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of submissions")
    parser.add_argument("labs", help="the labs to grade: 7 or 7,9")
    parser.add_argument("--user", default="", help="runs student code (labs/lab grade --help)")
    options = parser.parse_args()
    paths = sorted(options.folder.glob("[!.]*"))
    if not paths:
        parser.error(f"{options.folder} has no submission; put a zip of labs/lab submit per student there")
    table = csv.writer(sys.stdout, lineterminator="\n")
    table.writerow(("submission", "lab", "points", "of", "review"))
    for number, path in enumerate(paths, 1):
        print(f"{number}/{len(paths)} {path.name}", file=sys.stderr, flush=True)
        table.writerows(rows_of(path, options))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
