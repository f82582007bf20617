"""Changes of code that are written as differences: the labs' mutants, and the repairs of bug hunts.

    @@ one-step-too-few: P-2 steps: each chunk lacks one rank's numbers.
    -    for (int step = 0; step < P - 1; ++step)
    +    for (int step = 0; step < P - 2; ++step)

A change has a name and a sentence that says what is wrong. Its lines with a space or `-` stand
together in the code; those with `-` are removed, and those with `+` are added. `-...` removes lines
and ` ...` leaves lines as they are, up to the next line of the change, or up to the region's end.

Lines before the first `...` must occur once in the code; of later ones the first place counts.
A mutant, as in tests/mutants/lab11.3.diff, changes the regions of its task. Their markers are lines,
too, and can select a region. A change that begins with `-...` begins after the first marker."""

import re
from dataclasses import dataclass

from lab_tool.regions import MARKER, regions_in
from lab_tool.screen import LabError

HEAD = re.compile(r"^@@ (\S+): (.*\.)$")


@dataclass(frozen=True)
class Change:
    name: str  # "one-step-too-few"
    wrong: str  # one sentence
    place: str  # "tests/mutants/lab11.3.diff:1", where it begins
    lines: tuple


@dataclass(frozen=True)
class Mutant:
    name: str  # "lab07.2/contiguous-shards"
    wrong: str
    place: str
    bodies: dict  # {(task, path, index among the task's regions there): lines}, if changed

    @property
    def task(self):
        return self.name[3:].split("/")[0]

    @property
    def lab(self):
        return self.task[:2]


def read_changes(path, root):
    """Returns the changes of a file, sorted by name; raises LabError at a line that is wrong."""
    shown, found = path.relative_to(root), {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        head = HEAD.match(line)
        if head and head[1] in found:
            raise LabError(f"{shown}:{number}: a change is called {head[1]} already; rename it")
        if head:
            lines = []
            found[head[1]] = (head[2], f"{shown}:{number}", lines)
        elif found and line[:1] in (" ", "-", "+"):
            lines.append(line)
        else:
            raise LabError(f"{shown}:{number}: a change begins with `@@ name: What is wrong.`, and "
                           "each other line with a space, - or +")
    return [Change(name, wrong, place, tuple(lines))
            for name, (wrong, place, lines) in sorted(found.items())]


def apply(change, code):
    """Returns the lines of `code` with a change; raises LabError if they do not fit it."""
    result, at, block, gap = [], 0, [], None

    def place_of(old):
        if not old:
            return 1 if gap is None else next(
                (n for n in range(at, len(code)) if MARKER.match(code[n])), len(code))
        places = [n for n in range(at, len(code)) if code[n:n + len(old)] == old]
        if not places or (gap is None and len(places) > 1):
            raise LabError(f"{change.place}: {change.name}: {old[0].strip()!r} and its next lines "
                           f"occur {len(places)} times in the code, not once; write other lines")
        return places[0]

    for line in (*change.lines, None):
        if line not in (None, " ...", "-..."):
            block.append(line)
            continue
        old = [each[1:] for each in block if each[0] != "+"]
        start = place_of(old)
        result += [*code[at if gap != "-..." else start:start],
                   *(each[1:] for each in block if each[0] != "-")]
        at, block, gap = start + len(old), [], line
    return result + code[at:]


def read_mutants(catalogue):
    """Returns all mutants, sorted by task and name; raises LabError for one that is malformed."""
    folder = catalogue.root / "tests" / "mutants"
    return [read_mutant(change, path, catalogue.regions_of(task=path.stem[3:]))
            for path in sorted(folder.glob("lab*.diff"))
            for change in read_changes(path, catalogue.root)]


def read_mutant(change, path, regions):
    if not regions:
        raise LabError(f"tests/mutants/{path.name}: there is no region [{path.stem}]")
    code = [line for region in regions for line in region.lines]
    changed = regions_in("\n".join(apply(change, code)), change.place)
    bodies, seen = {}, []
    for before, after in zip(regions, changed):
        if before.body != after.body:
            bodies[before.task, before.path, seen.count(before.path)] = after.body
        seen.append(before.path)
    return Mutant(f"{path.stem}/{change.name}", change.wrong, change.place, bodies)
