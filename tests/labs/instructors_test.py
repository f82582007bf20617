"""The pages for instructors agree with the labs: points, hours, sums, and names of mutants."""

import re
import unittest
from pathlib import Path

from lab_tool.catalogue import Catalogue

ROOT = Path(__file__).resolve().parents[2]
SYLLABUS = (ROOT / "docs/pages/syllabus.md").read_text(encoding="utf-8")
PAGE = SYLLABUS + (ROOT / "docs/pages/instructors.md").read_text(encoding="utf-8")
HOURS = re.compile(r"^\| (\d\d) ([^|]+) \| (\d+) \| (\d+) \|$", re.MULTILINE)
WEEK = re.compile(r"^\| \d+ \| (\d\d [^|]*) \| (\d+) \| [^|]+ \|$", re.MULTILINE)
LIST = re.compile(r"^- (\d+) weeks, (\d+) hours: ([\d |]+)$", re.MULTILINE)
SUM = re.compile(r"^(\d+) hours in (\d+) weeks\.", re.MULTILINE)
TIME = re.compile(r"^Time: (\d+) hours", re.MULTILINE)
MUTANT = re.compile(r"^- `(lab\d\d\.\d+/[\w-]+)`:", re.MULTILINE)


class Page(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.catalogue = Catalogue()
        cls.labs = {lab.number: lab for lab in cls.catalogue.labs}
        cls.hours = {row[0]: int(row[2]) for row in HOURS.findall(PAGE)}

    def test_each_row_of_the_hours_agrees_with_the_labs_page(self):
        folders = {path.name[:2]: path for path in ROOT.glob("labs/[0-9][0-9]-*")}
        rows = HOURS.findall(PAGE)
        self.assertEqual([row[0] for row in rows], sorted(folders))
        for number, title, hours, points in rows:
            with self.subTest(number):
                text = (folders[number] / "README.md").read_text(encoding="utf-8")
                self.assertEqual(hours, TIME.search(text)[1])
                self.assertTrue(text.startswith(f"# Lab {number} · {title}\n"))
                tasks = self.labs[number].all_tasks if number in self.labs else ()
                self.assertEqual(int(points), sum(task.of for task in tasks))

    def test_the_hours_of_the_schedules_are_sums(self):
        total, both = sum(self.hours.values()), PAGE + (ROOT / "labs/README.md").read_text(encoding="utf-8")
        self.assertRegex(both, rf"(?s)labs: {total} h.*labs take {total} hours, and the five weeks take {SUM.search(PAGE)[1]}\.")
        parts = re.split(r"^\*\*\w+ weeks(?:\*\*|\.)", PAGE, flags=re.MULTILINE)[1:]
        self.assertEqual([SUM.search(part)[2] for part in parts], ["5", "14", "10", "12"])
        for part in parts:
            rows, told = WEEK.findall(part), SUM.search(part)
            for labs, hours in rows:
                self.assertEqual(int(hours), sum(map(self.hours.get, re.findall(r"(\d\d) ", labs))), labs)
            self.assertEqual([int(each) for each in told.groups()],
                             [sum(int(hours) for _, hours in rows), len(rows)])

    def test_the_hours_of_eight_weeks_are_sums(self):
        (weeks, hours, labs), = LIST.findall(PAGE)
        self.assertEqual(int(weeks), labs.count("|") + 1)
        self.assertEqual(int(hours), sum(map(self.hours.get, labs.replace("|", "").split())))

    def test_the_syllabus_has_the_points_of_its_labs_and_all_percents(self):
        percents = re.findall(r"^\| [a-z -]+ \| (\d+) \| ", SYLLABUS, re.MULTILINE)
        self.assertEqual((len(percents), sum(map(int, percents))), (4, 100))
        points = {row[0]: int(row[3]) for row in HOURS.findall(PAGE)}
        for part, told in zip(SYLLABUS.split("**Fourteen weeks"), ("of {} possible ones", "give {:,} points")):
            labs = re.findall(r"(\d\d) ", " ".join(labs for labs, _ in WEEK.findall(part)))
            self.assertIn(told.format(sum(map(points.get, labs))), SYLLABUS)

    def test_the_mutants_of_the_exam_exist(self):
        names = MUTANT.findall(PAGE)
        self.assertGreater(len(names), 10)
        for name in [*names, "lab11.3/one-step-too-few"]:
            task, mutant = name.split("/")
            text = (ROOT / "tests/mutants" / f"{task}.diff").read_text(encoding="utf-8")
            self.assertIn(f"@@ {mutant}: ", text, name)
