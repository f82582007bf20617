"""The development container (.devcontainer) names only files and commands that exist.

The container itself is not built here: that needs Docker.
"""

import json
import re
import shlex
import sys
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "labs"))
from lab_tool.cli import VERBS  # noqa: E402

FOLDER = ROOT / ".devcontainer"
SETTINGS = json.loads((FOLDER / "devcontainer.json").read_text(encoding="utf-8"))
OTHER_COMMANDS = {"git", "rm"}


def instructions(text):
    """Returns [(name, arguments)] of a Dockerfile."""
    joined = re.sub(r"\\\n", " ", text)
    return [tuple(line.split(None, 1)) for line in joined.split("\n")
            if line and not line.startswith("#")]


def commands(shell):
    """Returns the words of each command of a shell line."""
    return [shlex.split(command) for command in re.split(r"&&|;", shell)]


class Container(unittest.TestCase):
    def setUp(self):
        build = SETTINGS["build"]
        self.context = (FOLDER / build["context"]).resolve()
        self.dockerfile = instructions((FOLDER / build["dockerfile"]).read_text(encoding="utf-8"))

    def check_exists(self, words, copied):
        """Checks that a command is a verb of labs/lab, here or in a copied folder, or git or rm."""
        for source, target in copied.items():
            words = [words[0].replace(target, source), *words[1:]]
        if words[0] == "labs/lab":
            self.assertIn(words[1], VERBS)
        else:
            self.assertIn(words[0], OTHER_COMMANDS)

    def test_it_is_debian_with_the_packages_of_set_up(self):
        self.assertEqual(self.dockerfile[0], ("FROM", "debian:12"))
        self.assertRegex(dict(self.dockerfile)["RUN"], r"/labs/lab setup\b")

    def test_its_files_and_commands_exist(self):
        copied = {}
        for name, arguments in self.dockerfile[1:]:
            if name == "COPY":
                source, target = arguments.split()
                self.assertTrue((self.context / source).exists(), source)
                copied[source] = target
            else:
                self.assertEqual(name, "RUN")
                for words in commands(arguments):
                    self.check_exists(words, copied)
        self.assertEqual(self.context, ROOT)
        for words in commands(SETTINGS["postCreateCommand"]):
            self.check_exists(words, {})


if __name__ == "__main__":
    unittest.main()
