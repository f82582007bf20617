"""The learner's files in work/, which replace the reference in a build: start, reset, compare."""

import difflib
import re
from datetime import datetime
from pathlib import Path

from lab_tool.catalogue import Catalogue
from lab_tool.empty_form import empty_form
from lab_tool.places import replace_file, work_name
from lab_tool.regions import FILE_LINE, MARKER, core_in, regions_in, solution_of, starter, todo
from lab_tool.screen import LabError
from lab_tool.state import State

GUIDED_PERCENT = 80  # of a task's points, if a core of it is guided
NO_CODE = re.compile(r"//[^\n]*|/\*.*?\*/|^ *#[^\n]*|\bnamespace[\w: ]*\{|[\s{}]", re.DOTALL | re.MULTILINE)


def is_blank(region):
    """Returns whether a region has no code but the starter's MINI_TODO."""
    return "".join("".join(region.body).split()) == "".join("".join(todo(region)).split())


def left_in(region):
    number = next(number for number, line in enumerate(region.body) if "MINI_TODO(" in line)
    return (f"{region.path}:{region.first + number + 2}, where MINI_TODO is left in your code: "
            "delete it")


class Workspace:
    def __init__(self, catalogue=None):
        self.catalogue = catalogue or Catalogue()
        self.state = State(self.catalogue.root)
        self.root = self.catalogue.root
        self.folder = self.root / "work"

    def reference(self, path):
        return (self.root / path).read_text(encoding="utf-8")

    def mine(self, path):
        """Returns the text of the learner's file, or None if it does not exist."""
        if not path:
            return None
        own = self.folder / self.name(path)
        try:
            return own.read_text(encoding="utf-8") if own.exists() else None
        except UnicodeDecodeError as error:
            raise LabError(f"{self.shown(path)} is not UTF-8 text (byte {error.start} is not); save it "
                           "as UTF-8") from None

    def name(self, path):
        """Returns the name in work/ of the learner's file for a lab's file, or for its hunt."""
        return work_name(self.root, self.catalogue.lab_of.get(path) or path.split("/")[1][:2], path)

    def shown(self, path):
        return f"work/{self.name(path)}"

    def refuse_misplaced(self):
        """Raises LabError if a header in work/ would hide one of the lab's folder."""
        for own in sorted(self.folder.glob("*/*.hpp")):
            path = own.relative_to(self.folder)
            if (self.root / "labs" / path).exists():
                raise LabError(f"work/{path} would hide the lab's own; headers are the "
                               "specification and stay as they are: delete it")

    def started(self, lab):
        """Returns whether at least one of the lab's files is in work/."""
        if lab == "00":
            return any(self.folder.glob("00-*"))
        return any(self.mine(path) is not None for path in self.catalogue.files_of(lab))

    def chosen(self, numbers=()):
        """Returns the named labs, by default all that are started. Raises LabError if one is not."""
        labs = [self.catalogue.lab(number) for number in numbers] or [
            lab for lab in self.catalogue.labs if self.started(lab.number)]
        if not labs:
            raise LabError("no lab is started; begin with: labs/lab next")
        for lab in labs:
            if not self.started(lab.number):
                raise LabError(f"lab {lab.number} is not started; run: labs/lab start {lab.number}")
        return labs

    def write(self, path, text):
        replace_file(self.folder / self.name(path), text)

    def is_core(self, path):
        return core_in(self.reference(path), path)[1] > 0

    def is_whole(self, path):
        """Returns whether the learner writes a core from its empty form."""
        return self.is_core(path) and not any(
            map(MARKER.match, (self.mine(path) or "").split("\n")))

    def is_guided(self, task):
        return any(self.is_core(path) and not self.is_whole(path)
                   for path in self.catalogue.files_of(task=task))

    def points(self, task):
        """Returns the points that a task gives if it passes, rounded down."""
        return task.points * (GUIDED_PERCENT if self.is_guided(task.name) else 100) // 100

    def starter(self, path, guided=False):
        """Returns what `start` writes: a core's empty form or, if guided, its frame."""
        if self.is_core(path) and not guided:
            return empty_form(self.root, path)
        return FILE_LINE.sub("", starter(self.reference(path), path))

    def start(self, lab, guided=False):
        """Writes the starters of a lab's files that are not in work/; returns the paths of all."""
        paths = self.catalogue.files_of(lab)
        if not paths:
            raise LabError(f"lab {lab} has no regions in the sources")
        for path in paths:
            if self.mine(path) is None:
                self.write(path, self.starter(path, guided))
        return paths

    def reset(self, lab, guided=False):
        return self.replace({path: self.starter(path, guided) for path in self.catalogue.files_of(lab)})

    def replace(self, texts):
        """Writes {path: text} where the learner's text is another one. Returns these paths, and the
        new folder in work/.backup with the files that were there, or None."""
        paths = [path for path in texts if texts[path] != self.mine(path)]
        old = {path: self.mine(path) for path in paths if self.mine(path) is not None}
        backup = self.folder / ".backup" / f"{datetime.now():%Y-%m-%d-%H%M%S-%f}"
        for path, text in old.items():
            replace_file(backup / self.name(path), text)
        for path in paths:
            self.write(path, texts[path])
        return paths, backup if old else None

    def _regions(self, path, task):
        """Returns the regions of a task in the learner's file; none if the file is missing."""
        found = regions_in(self.mine(path) or "", self.shown(path))
        return [each for each in found if each.task == task]

    def untouched(self, task):
        """Returns whether the regions of a task are as in the starter, and its files that are
        written whole have no code; whether a hunt is missing, or equal to the original."""
        if task.endswith(".hunt"):
            path = self.catalogue.lab(task[:2]).hunt
            return self.mine(path) in (None, self.reference(path))
        written, unwritten = self.written_or_not(task)
        whole = [self.mine(path) for path in self.catalogue.files_of(task=task) if self.is_whole(path)]
        return (bool(unwritten) or bool(whole)) and not written and all(map(is_blank, unwritten)) and \
            not any(text and NO_CODE.sub("", text) for text in whole)

    def gaps(self, task):
        """Returns the places of MINI_TODO in a task's regions; "" if none or all are written."""
        written, unwritten = self.written_or_not(task)
        if not written and all(map(is_blank, unwritten)):
            return ""
        return ", ".join(region.place if is_blank(region) else left_in(region)
                         for region in unwritten)

    def written_or_not(self, task):
        """Returns the regions of a task without and with MINI_TODO; none if a file is missing."""
        try:
            mine = [region for path in self.catalogue.files_of(task=task)
                    for region in self._regions(path, task)]
        except LabError:
            return [], []
        unwritten = [region for region in mine if any("MINI_TODO(" in line for line in region.body)]
        return [region for region in mine if region not in unwritten], unwritten

    def difference(self, task):
        """Returns the unified diff from the learner's code of a task to the reference's."""
        lines, mine = [], {path: self._regions(path, task)
                           for path in self.catalogue.files_of(task=task)}
        whole = [path for path in mine if self.is_whole(path)]
        for path in whole:
            lines += difflib.unified_diff(
                [line for line in self.mine(path).split("\n") if not line.startswith("#include")],
                solution_of(self.reference(path), path), self.shown(path), path, lineterm="")
        for theirs in self.catalogue.regions_of(task=task):
            if theirs.path in whole:
                continue
            own = mine[theirs.path].pop(0) if mine[theirs.path] else None
            body, place = (own.body, own.place) if own else ((), self.shown(theirs.path))
            lines += difflib.unified_diff(body, theirs.body, place, theirs.place, lineterm="")
        return lines
