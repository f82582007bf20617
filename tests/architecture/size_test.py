"""The library stays small: no part of the repository has more lines than its ceiling.

All lines count: code, comments and blank lines. A ceiling is the present size, rounded up. A change
that adds lines to a full part must first remove lines from it. A change that removes lines lowers the
ceiling in the same commit; the test fails while a ceiling is more than 3 % above the size.

    python3 tests/architecture/size_test.py --list    each part: lines now, its ceiling, the goal
"""

import re
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
CODE = {".cpp", ".hpp", ".cu", ".cuh", ".h", ".cmake", ".txt", ".py", ".in"}
INCLUDE = re.compile(r'^\s*#\s*include\s*"(libmini/[^"]+)"', re.M)
READING_CORE = ["random", "tensor", "autograd", "nn", "optim", "data", "distributed/store",
                "distributed/collectives", "parallel"]

# part: (ceiling, goal of the design; None if it has no goal of its own). Labs 21 and 22, on a
# small transformer, may add 1,700 lines to the core of 42,820; so far they have added 1,670: the last
# ten are FSDP's contracts for errors, unused results and lifetime, and markers around their code.
LIMITS = {
    "libmini": (63030, 50000),
    "core: libmini without extras": (44400, 34000),
    "reading core": (17280, 14000),
    "reached by parallel/ddp.cpp": (7520, 8000),
    "extras": (18630, 18000),
    "the tool: labs/lab_tool, author_tool": (4500, 4500),
    "tests": (65730, 58000),
    "tests, files": (678, 700),
    "libmini/autograd": (2050, None),
    "libmini/cmake": (1260, None),
    "libmini/composed": (150, None),
    "libmini/core": (1320, None),
    "libmini/data": (2060, None),
    "libmini/datasets": (2130, None),
    "libmini/distributed/backends": (700, None),
    "libmini/distributed/collectives": (810, None),
    "libmini/distributed/group": (2270, None),
    "libmini/distributed/launch": (500, None),
    "libmini/distributed/net": (1430, None),
    "libmini/distributed/rendezvous": (1120, None),
    "libmini/distributed/store": (1140, None),
    "libmini/distributed/transport": (3530, None),
    "libmini/extras/backends": (2610, None),
    "libmini/extras/cudasim": (7480, None),
    "libmini/extras/fast": (1370, None),
    "libmini/extras/fibers": (220, None),
    "libmini/extras/flight": (1290, None),
    "libmini/extras/launchers": (590, None),
    "libmini/extras/report": (2970, None),
    "libmini/extras/simulation": (2110, None),
    "libmini/io": (1200, None),
    "libmini/kernels/cpu": (1320, None),
    "libmini/kernels/cuda": (2990, None),
    "libmini/nn": (1470, None),
    "libmini/optim": (880, None),
    "libmini/parallel": (5230, None),
    "libmini/program": (800, None),
    "libmini/random": (1000, None),
    "libmini/tensor": (2660, None),
    "libmini/tools": (3130, None),
    "libmini/training": (2300, None),
    "libmini/vision": (420, None),
}


def files_of(folder):
    return [path for path in sorted((ROOT / folder).rglob("*"))
            if path.suffix in CODE and path.is_file() and "__pycache__" not in path.parts]


def lines(paths):
    return sum(path.read_bytes().count(b"\n") for path in paths)


def reached(start):
    """Returns the files that `start` includes, directly or not, each with the sources beside it."""
    found, waiting = set(), [ROOT / start]
    while waiting:
        path = waiting.pop()
        if path in found:
            continue
        found.add(path)
        for name in INCLUDE.findall(path.read_text(encoding="utf-8")):
            header = ROOT / name
            if header.is_file():
                waiting += [file for file in (header, header.with_suffix(".cpp"),
                                              header.with_suffix(".cu")) if file.is_file()]
    return found


def sizes():
    """Returns {part: its lines, or its number of files if the part's name says so}."""
    libmini = lines(files_of("libmini"))
    extras = lines(files_of("libmini/extras"))
    tests = [path for path in (ROOT / "tests").rglob("*")
             if path.is_file() and "__pycache__" not in path.parts]
    found = {
        "libmini": libmini,
        "core: libmini without extras": libmini - extras,
        "reading core": sum(lines(files_of(f"libmini/{name}")) for name in READING_CORE),
        "reached by parallel/ddp.cpp": lines(reached("libmini/parallel/ddp.cpp")),
        "extras": extras,
        "the tool: labs/lab_tool, author_tool": lines(files_of("labs/lab_tool")
                                                      + files_of("labs/author_tool")),
        "tests": lines(tests),
        "tests, files": len(tests),
    }
    folders = [path for path in sorted((ROOT / "libmini").iterdir()) if path.is_dir()]
    for folder in folders:
        inner = [path for path in sorted(folder.iterdir()) if path.is_dir()]
        split = folder.name in ("distributed", "extras", "kernels")
        for part in inner if split else [folder]:
            name = str(part.relative_to(ROOT))
            found[name] = lines(files_of(name))
    return found


class Size(unittest.TestCase):
    def test_each_part_has_a_ceiling_and_each_ceiling_a_part(self):
        self.assertEqual(sorted(sizes()), sorted(LIMITS))

    def test_no_part_is_larger_than_its_ceiling(self):
        for part, size in sizes().items():
            with self.subTest(part):
                ceiling = LIMITS[part][0]
                self.assertLessEqual(size, ceiling,
                                     f"{part} has {size} lines, more than {ceiling}: remove "
                                     "lines before you add some")

    def test_ceilings_follow_what_is_removed(self):
        for part, size in sizes().items():
            with self.subTest(part):
                ceiling = LIMITS[part][0]
                self.assertLessEqual(ceiling, max(1.03 * size, size + 50),
                                     f"{part} has {size} lines: lower its ceiling from {ceiling}")


if __name__ == "__main__":
    if sys.argv[1:] == ["--list"]:
        for part, size in sizes().items():
            ceiling, goal = LIMITS.get(part, (0, None))
            print(f"{part:34} {size:7,} {ceiling:8,} {goal or '':>8}")
    else:
        unittest.main()
