#!/usr/bin/env python3
"""Writes the points of a marks.csv into a table of a learning platform.

    fill_marks.py marks.csv worksheet.csv Identifier Grade > upload.csv
    fill_marks.py marks.csv gradebook.csv ID "Lab 7 (4711)" > upload.csv

The table is a CSV file that the platform has written: Moodle's grading
worksheet, Canvas's gradebook. All cells but the points stay as they are. What
was not written is listed on stderr; then the exit code is 1."""

import argparse
import csv
import re
import sys
from pathlib import Path


def read(path):
    with path.open(encoding="utf-8-sig", newline="") as file:
        return list(filter(None, csv.reader(file)))


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("marks", type=Path, help="the file of grade_folder.py")
    parser.add_argument("table", type=Path, help="the platform's file")
    parser.add_argument("key", help="its column with the identifiers")
    parser.add_argument("column", help="its column to fill")
    parser.add_argument("--points", default="total", help="of marks.csv (total)")
    options = parser.parse_args()

    head, *rows = read(options.marks)
    marks = {row[0]: row[head.index(options.points)] for row in rows}
    if len(marks) < len(rows):
        parser.error(f"{options.marks} has two rows of one student; delete one of them")
    wrong = [f"{who} has no points" for who in marks if not marks[who]]
    head, *rows = read(options.table)
    for name in (options.key, options.column):
        if name not in head:
            parser.error(f"{options.table} has no column {name}, but {', '.join(head)}")

    key, column = map(head.index, (options.key, options.column))
    for row in rows:
        who = row[key]
        if who not in marks:
            who = re.sub(r"^\D+(?=\d+$)", "", who)  # Moodle's "Participant 12345"
        row[column] = marks.pop(who, "") or row[column]
    csv.writer(sys.stdout, lineterminator="\n").writerows([head, *rows])
    wrong += [f"{who} is not in the column {options.key}" for who in marks if marks[who]]
    for each in wrong:
        print(f"not written: {each}", file=sys.stderr)
    sys.exit(1 if wrong else 0)


if __name__ == "__main__":
    main()
