"""The page for instructors agrees with the labs: points, hours, sums, and names of mutants."""

import re
import unittest
from pathlib import Path

from lab_tool.catalogue import Catalogue

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/pages/instructors.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| \d+ \| (\d\d .*?) \| (\d+)(?: to (\d+))? \| (\d+) \|", re.MULTILINE)
SUM = re.compile(r"^(\d+) to (\d+) hours, ([\d,]+) points\.", re.MULTILINE)
TIME = re.compile(r"^Time: (\d+)(?: to (\d+))? hours", re.MULTILINE)
MUTANT = re.compile(r"^- `(lab\d\d\.\d+/[\w-]+)`:", re.MULTILINE)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.catalogue = Catalogue()
        cls.labs = {lab.number: lab for lab in cls.catalogue.labs}

    def points(self, number):
        lab = self.labs[number]
        return sum(task.points for task in lab.all_tasks)

    def hours(self, number):
        text = (self.labs[number].folder / "README.md").read_text(encoding="utf-8")
        found = TIME.search(text)
        return int(found[1]), int(found[2] or found[1])

    def test_each_row_of_the_schedules_has_the_labs_points_and_hours(self):
        rows = ROW.findall(PAGE)
        self.assertEqual(len(rows), 6 + 12)
        for what, least, most, points in rows:
            numbers = re.findall(r"(?:^|, )(\d\d) ", what)
            self.assertEqual(int(points), sum(map(self.points, numbers)), what)
            hours = [sum(each) for each in zip(*map(self.hours, numbers))]
            self.assertEqual([int(least), int(most or least)], hours, what)

    def test_the_sums_are_those_of_the_rows(self):
        parts = PAGE.split("**Twelve weeks**")
        self.assertEqual(len(parts), 2)
        for part in parts:
            rows, told = ROW.findall(part), SUM.search(part)
            self.assertEqual([int(each.replace(",", "")) for each in told.groups()],
                             [sum(int(row[1]) for row in rows),
                              sum(int(row[2] or row[1]) for row in rows),
                              sum(int(row[3]) for row in rows)])

    def test_the_mutants_of_the_exam_exist(self):
        names = MUTANT.findall(PAGE)
        self.assertGreater(len(names), 10)
        for name in [*names, "lab11.3/one-step-too-few"]:
            task, mutant = name.split("/")
            text = (ROOT / "tests/mutants" / f"{task}.diff").read_text(encoding="utf-8")
            self.assertIn(f"@@ {mutant}: ", text, name)
