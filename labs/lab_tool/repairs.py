"""The repairs of the bug hunts, with which labs/lab dev check verifies that each bug matters.

    tests/hunts/lab07/compare-pointers.patch    one bug: a line that says what is wrong, then a
                                                unified diff of labs/07-partition/bug_hunt.cpp

The hunt must fail without repairs, must succeed with all repairs, and must fail if one
repair is left out. A hunk is found by its lines, not by its line numbers.
"""

from dataclasses import dataclass
from pathlib import Path, PurePath

from lab_tool.screen import LabError

ALL = "repaired"  # the variant with all repairs


@dataclass(frozen=True)
class Repair:
    name: str  # "compare-pointers"
    wrong: str  # one sentence
    path: str  # of the patch, in the repository
    hunks: tuple  # of (lines before, lines after)


def read_repairs(root, lab):
    """Returns the repairs of a lab's hunt, sorted by name."""
    folder = Path(root) / "tests" / "hunts" / f"lab{lab.number}"
    return [read_repair(path, str(path.relative_to(root))) for path in sorted(folder.glob("*.patch"))]


def read_repair(path, shown):
    wrong, *lines = path.read_text(encoding="utf-8").rstrip("\n").split("\n")
    if not wrong.endswith(".") or wrong.startswith(("---", "@@")):
        raise LabError(f"{shown}:1: a repair begins with a sentence that says what is wrong")
    hunks = []
    for line in lines:
        if line.startswith("@@"):
            hunks.append(([], []))
        elif hunks:
            before, after = hunks[-1]
            if line[:1] != "+":
                before.append(line[1:])
            if line[:1] != "-":
                after.append(line[1:])
    if not hunks:
        raise LabError(f"{shown}: it has no hunk (@@); make it with diff -U1")
    return Repair(path.stem, wrong, shown, tuple((tuple(a), tuple(b)) for a, b in hunks))


def apply(repair, text):
    """Returns the text with a repair; raises LabError if a hunk is not found exactly once."""
    lines = text.split("\n")
    for number, (before, after) in enumerate(repair.hunks, 1):
        places = [place for place in range(len(lines) - len(before) + 1)
                  if tuple(lines[place:place + len(before)]) == before]
        if len(places) != 1:
            raise LabError(f"{repair.path}: the lines of hunk {number} occur {len(places)} times "
                           "in the bug hunt, not once")
        lines[places[0]:places[0] + len(before)] = after
    return "\n".join(lines)


def variants(text, repairs):
    """Returns {variant: text}: the text with all repairs and, if there are several
    repairs, a text without each of them."""
    left_out = [None] + (repairs if len(repairs) > 1 else [])
    found = {}
    for without in left_out:
        repaired = text
        for repair in repairs:
            if repair is not without:
                repaired = apply(repair, repaired)
        found[f"without_{without.name}" if without else ALL] = repaired
    return found


def generate(catalogue, labs, folder):
    """Writes the variants of the hunts to folder/07/, and removes all others; returns {lab's
    number: names of its variants}. Unchanged files are not rewritten."""
    wanted, names = {}, {}
    for lab in labs:
        repairs = read_repairs(catalogue.root, lab) if lab.hunt else []
        if repairs:
            text = (catalogue.root / lab.hunt).read_text(encoding="utf-8")
            found = variants(text, repairs)
            names[lab.number] = list(found)
            suffix = PurePath(lab.hunt).suffix
            wanted.update({folder / lab.number / f"{name}{suffix}": text
                           for name, text in found.items()})
    for old in (folder.rglob("*.c*") if folder.exists() else ()):
        if old not in wanted and old.parent.name in {lab.number for lab in labs}:
            old.unlink()
    for path, text in wanted.items():
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text, encoding="utf-8")
    return names
