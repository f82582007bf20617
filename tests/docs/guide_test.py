"""The guide for users of PyTorch names functions that exist, and that record gradients.

    python3 -m unittest tests/docs/guide_test.py
"""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
GUIDE = ROOT / "docs/pages/from_pytorch.md"

CODE = re.compile(r"`([^`]+)`")
CALLED = re.compile(r"([A-Za-z_][\w:]*)\s*(?:<[^<>()]*>)?\(")
QUALIFIED = re.compile(r"\b(\w+(?:::\w+)+)")
REFERENCE = re.compile(r"@ref (mini::[\w:]+)")

# Names of the language, and of programs.
NOT_OURS = {"catch", "for", "if", "minirun", "sizeof"}


def rows():
    """Yields (line number, columns) for each row of a table, without heads and rules."""
    lines = GUIDE.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, 1):
        columns = [column.strip() for column in line.strip().strip("|").split(" | ")]
        if line.startswith("| ") and columns[0] != "there":
            yield number, columns


def names_in(text):
    """Returns the names of libmini's functions and types in the code of a column."""
    names = set(REFERENCE.findall(text))
    for code in CODE.findall(text):
        names.update(CALLED.findall(code) + QUALIFIED.findall(code))
    return {name for name in names if name not in NOT_OURS}


def headers():
    paths = sorted((ROOT / "libmini").rglob("*.hpp"))
    return {path: path.read_text(encoding="utf-8") for path in paths}


def declares(text, name):
    return re.search(rf"\b{name}\b", re.sub(r"//.*", "", text)) is not None


class GuideTest(unittest.TestCase):
    """The second column of each table."""

    def setUp(self):
        self.headers = headers()
        self.recorded = self.headers[ROOT / "libmini/autograd/functions.hpp"]
        self.ops = self.headers[ROOT / "libmini/tensor/ops.hpp"]

    def exists(self, name):
        if name.startswith("ops::"):
            return declares(self.ops, name.split("::")[-1])
        return any(declares(text, name.split("::")[-1]) for text in self.headers.values())

    def test_the_guide_has_tables(self):
        self.assertGreater(len(list(rows())), 80)

    def test_every_function_and_type_is_declared_in_a_header(self):
        missing = [f"line {number}: {name}" for number, columns in rows()
                   for name in sorted(names_in(columns[1])) if not self.exists(name)]
        self.assertEqual(missing, [])

    def test_a_function_of_ops_is_named_only_if_no_function_of_mini_is_recorded(self):
        twice = [f"line {number}: {name}" for number, columns in rows()
                 for name in sorted(names_in(columns[1])) if name.startswith("ops::")
                 and re.search(rf"^(inline )?Tensor {name[5:]}\(const Tensor& \w+[,)]",
                               self.recorded, re.M)
                 and name != "ops::to"]  # mini::to converts no dtypes
        self.assertEqual(twice, [])

    def test_the_first_table_names_functions_that_record(self):
        text = GUIDE.read_text(encoding="utf-8")
        table = text[text.index("## Tensors"):text.index("Not recorded, because")]
        called = {name for line in table.splitlines() if line.startswith("| `")
                  for name in names_in(line.split(" | ")[1])}
        free = {name for name in called if declares(self.recorded, name)}
        self.assertLessEqual({"permute", "sum", "matmul", "exp", "log_softmax", "to"}, free)
        self.assertFalse({name for name in called if name.startswith("ops::")})
