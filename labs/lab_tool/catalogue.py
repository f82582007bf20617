"""The existing labs: their folders, tasks, hints and sources, as in the table of docs/CONTRIBUTING.md,
"Add a lab". A folder is a lab of the tool if its README has a task table."""

import json
import re
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path

from lab_tool.places import ROOT
from lab_tool.regions import SUFFIXES, regions_in
from lab_tool.screen import LabError

FOLDER = re.compile(r"(\d\d)-[\w-]+")
ROW = re.compile(r"^\| *(\d\d\.\d+) *\|(.*)\| *$")
HINT_HEAD = re.compile(r"^## *(\d+)[^\n]*$", re.MULTILINE)
TITLE = re.compile(r"^# +(?:Lab +)?(?:\d+ *[·:.-]* *)?(.*)$", re.MULTILINE)
TASK = re.compile(r"(?:lab)?0*(\d{1,2})\.(\d+)")
POINTS_OF_A_HUNT = 10
HUNTS = ("bug_hunt.cpp", "bug_hunt.cu")
PAGES = ("README.md", "going_further.md")
COURSE = "course.json"  # of an exported course (labs/lab dev export)


@dataclass(frozen=True)
class Task:
    name: str  # "07.2"
    what: str
    file: str
    done_when: str
    points: int = 0
    of: int = 0  # the points among those of the lab: none of a bonus

    @property
    def is_hunt(self):
        return self.name.endswith(".hunt")

    @property
    def words(self):
        """The words that name the task in a command: "07.2", or "07 hunt"."""
        return self.name.replace(".hunt", " hunt")


@dataclass
class Lab:
    number: str  # "07"
    folder: Path
    title: str
    tasks: list = field(default_factory=list)
    hunt: str = ""  # path of bug_hunt.cpp or .cu in the repository, "" if there is none

    @property
    def pages(self):
        return [path for name in PAGES if (path := self.folder / name).exists()]

    @property
    def all_tasks(self):
        """The tasks, and the bug hunt as a last one, named "07.hunt"."""
        if not self.hunt:
            return self.tasks
        return [*self.tasks, Task(f"{self.number}.hunt", f"Find the bugs in {Path(self.hunt).name}",
                                  self.hunt, "the program exits with code 0", *[POINTS_OF_A_HUNT] * 2)]

    def task(self, name):
        for task in self.tasks:
            if task.name == name:
                return task
        names = ", ".join(task.name for task in self.tasks)
        raise LabError(f"lab {self.number} has no task {name}; its tasks: {names}")

    def hints(self, task):
        """Returns the texts of a task's hints, from a question to the guided frame."""
        path = self.folder / "hints" / f"{task}.md"
        if not path.exists():
            return []
        parts = HINT_HEAD.split(path.read_text(encoding="utf-8"))
        return [text.rstrip().lstrip("\n") for text in parts[2::2] if text.strip()]


def read_lab(folder):
    """Returns the lab of a folder, or None if its README has no task table."""
    readme = folder / "README.md"
    match = FOLDER.fullmatch(folder.name)
    if not match or not readme.exists():
        return None
    text = readme.read_text(encoding="utf-8")
    tasks = []
    for line in text.splitlines():
        row = ROW.match(line)
        if row:
            cells = [cell.strip() for cell in row[2].split("|")] + ["", "", "", ""]
            points = int(cells[3]) if cells[3].isdecimal() else 0
            tasks.append(Task(row[1], *cells[:3], points, points * (not cells[0].startswith("Bonus"))))
    if not tasks:
        return None
    title = TITLE.search(text)
    hunt = next((f"labs/{folder.name}/{name}" for name in HUNTS if (folder / name).exists()), "")
    return Lab(match[1], folder, title[1].strip() if title else folder.name, tasks, hunt)


class Catalogue:
    def __init__(self, root=ROOT):
        self.root = Path(root)

    @cached_property
    def course(self):
        """The content of course.json in an exported course; None in libmini's own repository."""
        path = self.root / COURSE
        return json.loads(path.read_text(encoding="utf-8")) if path.exists() else None

    @cached_property
    def labs(self):
        found = filter(None, map(read_lab, sorted((self.root / "labs").glob("*"))))
        order = self.course["labs"] if self.course else []  # the instructor's
        return sorted(found, key=lambda lab: (order + [lab.number]).index(lab.number))

    @property
    def lab00(self):
        """Lab 00, which has no tasks (labs/00-*/lab.py); None if it is missing."""
        folder = next((self.root / "labs").glob("00-*"), None)
        return folder and Lab("00", folder, "The whole idea")

    @cached_property
    def regions(self):
        found = []
        for top in ("libmini", "labs"):
            for path in sorted((self.root / top).rglob("*")):
                if path.suffix not in SUFFIXES:
                    continue
                text = path.read_text(encoding="utf-8")
                if "// [lab" in text:
                    found += regions_in(text, str(path.relative_to(self.root)))
        return found

    @cached_property
    def lab_of(self):
        """Returns {path: number of the lab whose regions the file has}."""
        return {region.path: region.lab for region in self.regions}

    def lab(self, number):
        """Returns the lab named "7", "07" or "lab07"; raises LabError if it does not exist."""
        wanted = str(number).removeprefix("lab").zfill(2)
        if found := [lab for lab in self.labs if lab.number == wanted]:
            return found[0]
        if wanted == "00" and self.lab00:
            raise LabError("lab 00 has no tasks, no hints and no points; its commands are labs/lab "
                           "start 0, check 0, reset 0 and quiz 0")
        names = ", ".join(lab.number for lab in [self.lab00, *self.labs] if lab) or "none yet"
        raise LabError(f"there is no lab {number}; labs: {names}")

    def task(self, name):
        """Returns (lab, task) for "7.2", "07.2" or "lab07.2"; raises LabError for other names."""
        match = TASK.fullmatch(name)
        if not match:
            raise LabError(f"{name!r} names no task; write the lab's number, a dot and the task's "
                           "number: 07.2")
        lab = self.lab(match[1])
        return lab, lab.task(f"{lab.number}.{match[2]}")

    def regions_of(self, lab=None, task=None):
        return [region for region in self.regions
                if (lab is None or region.lab == lab) and (task is None or region.task == task)]

    def files_of(self, lab=None, task=None):
        """The files with the regions, or those that the row of a task without regions names."""
        named = next((row.file for each in self.labs for row in each.tasks if row.name == task), "")
        regions = self.regions_of(lab, task) or [
            region for region in self.regions_of(task and task[:2])
            if f"`{Path(region.path).name}`" in named]
        return list(dict.fromkeys(region.path for region in regions))
