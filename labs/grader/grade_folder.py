#!/usr/bin/env python3
"""Grades each submission in a folder, and writes the marks to stdout as CSV.

    labs/grader/grade_folder.py submissions 7 > marks.csv
    labs/grader/grade_folder.py submissions 7,9 --user student > marks.csv

A submission is a zip of labs/lab submit, or a student's folder with the zip.
There is a row for each one:

    identifier,submission,lab07,lab09,total,of,lost,review

The identifier is the number that Moodle or Canvas has put into the name of the
submission, else the name without .zip. fill_marks.py writes the points into a
table of your learning platform. The column of has the points without bonus;
lost has the tasks that lost points, with the reason; review has what review.py
found."""

import argparse
import csv
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

LABS = Path(__file__).resolve().parents[1]
# Moodle: Ada Lovelace_12345_assignsubmission_file
# Canvas: lovelaceada_LATE_12345_67890_submission.zip, where 67890 is the file's number
NUMBER = re.compile(r".*_(\d+)_assignsubmission_|[^_]+_(?:LATE_)?(\d+)_\d+_")


def identifier_of(name):
    found = NUMBER.match(name)
    return found[1] or found[2] if found else name.removesuffix(".zip")


def marks_of(path, options):
    """Grades a submission; returns its row without the identifier. If it cannot be
    graded, the row has no points, and the reason in the column review."""
    zips = list(path.glob("*.zip"))
    with tempfile.NamedTemporaryFile() as file:
        done = subprocess.run(
            [LABS / "lab", "grade", *options.labs, "--format", "json", "--output", file.name,
             "--submission", zips[0] if len(zips) == 1 else path, "--user", options.user],
            stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
        grades = Path(file.name).read_text("utf-8")  # which the tool has replaced
    if done.returncode:
        reason = done.stderr.strip().split("\n")[-1]
        return path.name, *[""] * len(options.labs), "", "", "", reason
    grades = json.loads(grades)
    lost = (f"{task['task']} {task['points']} of {task['of']}: {task['reason'] or task['status']}"
            for lab in grades["labs"] for task in lab["tasks"] if task["points"] < task["of"])
    review = (found for lab in grades["labs"] for found in lab["review"])
    points = (lab["points"] for lab in grades["labs"])
    return (path.name, *points, grades["points"], grades["of"], *map("; ".join, (lost, review)))


def numbers(text):
    return [f"{int(number):02}" for number in text.split(",")]


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path, help="the folder of submissions")
    parser.add_argument("labs", type=numbers, help="the labs to grade: 7 or 7,9")
    parser.add_argument("--user", default="", help="runs student code")
    options = parser.parse_args()
    paths = sorted(options.folder.glob("[!.]*"))
    if not paths:
        parser.error(f"{options.folder} has no submission; put the students' zips there")
    table = csv.writer(sys.stdout, lineterminator="\n")
    labs = [f"lab{number}" for number in options.labs]
    table.writerow(("identifier", "submission", *labs, "total", "of", "lost", "review"))
    for number, path in enumerate(paths, 1):
        print(f"{number}/{len(paths)} {path.name}", file=sys.stderr, flush=True)
        table.writerow((identifier_of(path.name), *marks_of(path, options)))
        sys.stdout.flush()


if __name__ == "__main__":
    main()
