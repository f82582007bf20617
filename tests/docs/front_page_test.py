"""README.md, the front page, names options, tools, components and presets that exist, and all of them
where its table is a list of all. Needs the programs train_mnist and mini, in MINI_BIN_DIR."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PAGE = (ROOT / "README.md").read_text(encoding="utf-8")
MOST_LINES = 200
ROW = re.compile(r"^\| (.+?) \| .* \|$", re.M)
CODE = re.compile(r"`([^`]+)`")


def help_of(program):
    path = Path(os.environ["MINI_BIN_DIR"]) / program
    return subprocess.run([path, "--help"], capture_output=True, text=True, check=True).stdout


def first_cells(head):
    """Returns the first cells of the rows of the table whose head begins with `head`."""
    table = PAGE[PAGE.index(f"\n| {head}"):].strip().split("\n\n")[0]
    return ROW.findall(table)[1:]


def options_of(cells):
    """{option: the values that the cells give for it, in order}: `--sync none`, `average` is one
    option with two values."""
    found, option = {}, None
    for word in (word for cell in cells for word in CODE.findall(cell)):
        if word.startswith("--"):
            option, _, value = word.partition(" ")
            found[option] = [value] if value else []
        else:
            found[option].append(word)
    return found


class FrontPage(unittest.TestCase):
    def test_it_is_short(self):
        self.assertLessEqual(PAGE.count("\n"), MOST_LINES)

    def test_the_options_of_train_mnist_exist_with_the_values_of_the_table(self):
        options = options_of(first_cells("option of `train_mnist`"))
        self.assertGreater(len(options), 20)
        text = help_of("train_mnist")
        for option, values in options.items():
            with self.subTest(option):
                described = re.search(rf"^  {option}(?:\{{false\}}| (\S+))?", text, re.M)
                self.assertTrue(described, "not in train_mnist --help")
                if values:
                    choices = described[1].split("=")[0].split("|")
                    self.assertEqual(values, choices)

    def test_the_table_of_the_tool_has_all_its_commands(self):
        commands = re.findall(r"^  ([a-z]+)  +", help_of("mini").split("Subcommands:")[1], re.M)
        named = [name for cell in first_cells("`mini ...`") for name in CODE.findall(cell)]
        self.assertLessEqual(set(commands), set(named))
        if "report" in commands:  # a build with extras has all
            self.assertEqual(sorted(named), sorted(commands))

    def test_the_list_of_components_has_each_in_the_order_of_the_build(self):
        build = (ROOT / "libmini" / "CMakeLists.txt").read_text(encoding="utf-8")
        for folder in ("", "extras/"):
            order = re.findall(rf"^add_subdirectory\({folder}((?!extras)\w+)\)", build, re.M)
            named = re.findall(rf"^    libmini/{folder}(\w+)/ ", PAGE, re.M)
            with self.subTest(folder):
                self.assertGreater(len(named), 3)
                self.assertEqual(named, order[::-1])

    def test_the_presets_exist(self):
        presets = json.loads((ROOT / "CMakePresets.json").read_text(encoding="utf-8"))
        known = {one["name"] for one in presets["configurePresets"]}
        for name in re.findall(r"--preset (\w+)", PAGE):
            with self.subTest(name):
                self.assertIn(name, known | {one["name"] for one in presets["buildPresets"]})
        for name in CODE.findall(re.search(r"The presets are (.*?);", PAGE, re.S)[1]):
            if not name.startswith("-"):
                with self.subTest(name):
                    self.assertIn(name, known)


class Options(unittest.TestCase):
    def test_words_after_an_option_are_its_values(self):
        self.assertEqual(options_of(["`--a`, `--b x`, `y`; `--c`"]),
                         {"--a": [], "--b": ["x", "y"], "--c": []})
