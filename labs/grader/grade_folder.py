#!/usr/bin/env python3
"""Grades each submission in a folder, and writes the marks to stdout as CSV.

    labs/grader/grade_folder.py submissions 7 > marks.csv
    labs/grader/grade_folder.py submissions 7,9 --user student > marks.csv

A submission is a zip of labs/lab submit, or a student's folder with the zip, as
Moodle makes it. There is a row for each submission and lab. The column review
has what review.py found."""

import argparse
import csv
import json
import subprocess
import sys
import tempfile
from pathlib import Path

LABS = Path(__file__).resolve().parents[1]


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
    for lab in json.loads(grades)["labs"]:
        yield path.name, lab["lab"], lab["points"], lab["of"], "; ".join(lab["review"])


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
