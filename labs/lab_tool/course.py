"""course.json of an exported course (labs/lab dev export)."""

import json

from lab_tool.places import ROOT
from lab_tool.screen import LabError

COURSE = "course.json"
VERSION = 1


def read_course(root=ROOT):
    """Returns the content of the course's file; None in a repository that is no course."""
    try:
        content = json.loads((root / COURSE).read_text(encoding="utf-8"))
        version = content["version"]
    except FileNotFoundError:
        return None
    except (ValueError, KeyError, TypeError):
        raise LabError(f"{COURSE} is damaged; restore it: git checkout {COURSE}") from None
    if version != VERSION:
        raise LabError(f"{COURSE} has version {version}, but this tool knows {VERSION}")
    return content


def refuse_in_course(catalogue):
    """Raises LabError in a course: it has no solutions to show."""
    if catalogue.course:
        raise LabError("this course has no solutions; ask your instructor")
