"""docs/pages/options.md lists each CMake option with its default, and each environment variable that a
source reads, and no other."""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "docs/pages/options.md").read_text(encoding="utf-8")
ROW = re.compile(r"^\| ((?:`\w+`(?:, )?)+) \| ([^|]*) \| [^|]+ \|$", re.M)

# CMake: an option and its default; what is searched; an extra; the library of a backend.
OPTION = re.compile(r'^ *(?:option|set)\((MINI_\w+) (?:"[^"]*" (\S+)\)|(\S+) CACHE)', re.M)
SEARCHED = re.compile(r"^ *find_(?:program|library)\((MINI_\w+)", re.M)
EXTRA = re.compile(r"^mini_extra\((\w+)", re.M)
BACKEND = re.compile(r"^mini_optional_library\((\w+)", re.M)

# C++: the texts in capitals of files that read variables. Python, shell and Doxygen: what is read.
READS = re.compile(r"getenv|\benviron(?:ment)?\b|\bsetting\(|\bLookup\b")
TEXT = re.compile(r'(?<!type_name\()"(OMPI_MCA_\w+|(?!SIG|PMI")[A-Z][A-Z\d]+(?:_[A-Z\d]+)*)"')
READING = re.compile(r'environ(?:\.get\(|\[)"([A-Z_]+)"|"([A-Z_]+)" in os\.environ'
                     r"|\$\{([A-Z_]+):?-|\$\((MINI_\w+)\)")


def texts(pattern, *folders):
    return [(path, path.read_text(encoding="utf-8")) for folder in folders
            for path in sorted((ROOT / folder).glob(pattern)) if path.is_file()]


def cmake_options():
    """Returns {option: default}; "" if a test cannot know it."""
    found = {}
    for _, text in (*texts("CMakeLists.txt", "."), *texts("**/*.cmake", "libmini"),
                    *texts("**/CMakeLists.txt", "libmini", "labs", "tests")):
        for name, default, cached in OPTION.findall(text):
            value = (default or cached).strip('"') or "empty"
            found[name] = "" if value.startswith("$") else value
        found |= {name: "found" for name in SEARCHED.findall(text)}
        found |= {f"MINI_EXTRA_{name.upper()}": "ON" for name in EXTRA.findall(text)}
        found |= {f"MINI_{name}": "AUTO" for name in BACKEND.findall(text)}
    return found


def variables():
    found = set()
    for path, text in texts("**/*.[ch]pp", "libmini", "labs", "tests/support"):
        if READS.search(text) and not path.name.startswith("test"):
            found.update(TEXT.findall(text))
    for path, text in (*texts("**/*.py", "libmini", "labs", "docs", "tests"),
                       *texts("*", "labs/grader"), *texts("Doxyfile", "docs")):
        found.update(name for match in READING.findall(text) for name in match
                     if name and (ROOT / "tests" not in path.parents or "MINI_" in name))
    return found


class Options(unittest.TestCase):
    def rows(self, part):
        return [(name, default) for cells, default in ROW.findall(part)
                for name in re.findall(r"`(\w+)`", cells)]

    def test_it_has_each_cmake_option_with_its_default(self):
        rows, options = self.rows(PAGE.split("## Environment variables")[0]), cmake_options()
        self.assertEqual(sorted(name for name, _ in rows), sorted(options))
        for name, default in rows:
            self.assertIn(options[name], ("", default), name)

    def test_it_has_each_environment_variable(self):
        names = [name for name, _ in self.rows(PAGE.split("## Environment variables")[1])]
        self.assertEqual(sorted(names), sorted(variables()))
