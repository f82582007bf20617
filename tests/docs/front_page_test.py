"""README.md, the front page, is short, and lists each lab. Lists on pages that it links to name what
exists, and all of it where the list is one of all. Needs train_mnist and mini, in MINI_BIN_DIR."""

import json
import os
import re
import subprocess
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
MOST_LINES, COLUMNS = 110, 80
ROW = re.compile(r"^\| (.+?) \| .* \|$", re.M)
CODE = re.compile(r"`([^`]+)`")
LINK = re.compile(r"\]\(([^)\s]+)\)")
LAB = re.compile(r"^\| \[(\d\d) ([^]]+)\]\(labs/([\w-]+)/README\.md\) \| .+ \|$", re.M)
# The other pages that have lines of at most 80 columns, but for tables and code.
NARROW = ("AGENTS.md", "docs/CHANGELOG.md", "docs/CODE_OF_CONDUCT.md", "docs/CONTRIBUTING.md",
          "docs/SECURITY.md", "docs/paper.md", "docs/pages/options.md", "docs/pages/programs.md")


def text_of(path):
    return (ROOT / path).read_text(encoding="utf-8")


FRONT, PROGRAMS, OPTIONS = map(text_of, ("README.md", "docs/pages/programs.md", "docs/pages/options.md"))


def help_of(program):
    return subprocess.run([f"{os.environ['MINI_BIN_DIR']}/{program}", "--help"], capture_output=True,
                          text=True, check=True).stdout


def first_cells(page, head):
    """Returns the first cells of the rows of the table whose head begins with `head`."""
    return ROW.findall(page[page.index(f"\n| {head}"):].strip().split("\n\n")[0])[1:]


def options_of(cells):
    """{option: the values that the cells give for it}: `--sync none`, `average` has two values."""
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
        self.assertLessEqual(FRONT.count("\n"), MOST_LINES)

    def test_lines_are_narrow_and_links_lead_to_files(self):
        for path in ("README.md", *NARROW):
            text = text_of(path)
            with self.subTest(path):
                self.assertEqual([line for line in text.split("\n") if len(line) > COLUMNS
                                  and not line.startswith(("|", "    "))], [])
                self.assertEqual([link for link in LINK.findall(text) if not link.startswith("http")
                                  and not (ROOT / path).parent.joinpath(link).exists()], [])

    def test_it_lists_each_lab_in_order(self):
        pages = {path.parent.name: path.read_text(encoding="utf-8").split("\n")[0]
                 for path in sorted(ROOT.glob("labs/[0-9][0-9]-*/README.md"))}
        listed = {folder: f"# Lab {number} · {title}" for number, title, folder in LAB.findall(FRONT)}
        self.assertEqual(list(listed.items()), list(pages.items()))


class LinkedPages(unittest.TestCase):
    def test_the_options_of_train_mnist_exist_with_the_values_of_the_table(self):
        options = options_of(first_cells(PROGRAMS, "option of `train_mnist`"))
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
        named = [name for cell in first_cells(PROGRAMS, "`mini ...`") for name in CODE.findall(cell)]
        self.assertLessEqual(set(commands), set(named))
        if "report" in commands:  # a build with extras has all
            self.assertEqual(sorted(named), sorted(commands))

    def test_the_list_of_components_has_each_in_the_order_of_the_build(self):
        build, page = text_of("libmini/CMakeLists.txt"), text_of("docs/pages/architecture.md")
        for folder in ("", "extras/"):
            order = re.findall(rf"^add_subdirectory\({folder}((?!extras)\w+)\)", build, re.M)
            named = re.findall(rf"^    libmini/{folder}(\w+)/ ", page, re.M)
            with self.subTest(folder):
                self.assertGreater(len(named), 3)
                self.assertEqual(named, order[::-1])

    def test_the_list_of_presets_has_each(self):
        presets = json.loads(text_of("CMakePresets.json"))
        known = {one["name"] for one in presets["configurePresets"]}
        self.assertEqual({cell.strip("`") for cell in first_cells(OPTIONS, "preset ")}, known)
        self.assertLessEqual(set(re.findall(r"--preset (\w+)", FRONT + OPTIONS + PROGRAMS)),
                             known | {one["name"] for one in presets["buildPresets"]})
