"""The presets use all cores, their warnings are errors, and clangd has a command for each file."""

import json
import re
import shlex
import subprocess
import tempfile
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PRESETS = json.loads((ROOT / "CMakePresets.json").read_text())


class Presets(unittest.TestCase):
    def test_no_preset_fixes_the_number_of_jobs(self):
        for preset in PRESETS["buildPresets"] + PRESETS["testPresets"]:
            with self.subTest(preset["name"]):
                self.assertNotIn("jobs", preset)
                self.assertNotIn("jobs", preset.get("execution", {}))

    def test_warnings_are_errors_in_every_preset(self):
        by_name = {preset["name"]: preset for preset in PRESETS["configurePresets"]}
        for name, preset in by_name.items():
            with self.subTest(name):
                variables = {**by_name.get(preset.get("inherits"), {}).get("cacheVariables", {}),
                             **preset["cacheVariables"]}
                self.assertEqual(variables.get("CMAKE_COMPILE_WARNING_AS_ERROR"), "ON")

    def test_the_editors_preset_has_a_command_for_each_file_and_clangd_reads_it(self):
        found = re.search(r"CompilationDatabase: (\S+)", (ROOT / ".clangd").read_text())
        self.assertEqual(found[1], "build/editor")
        with tempfile.TemporaryDirectory() as folder:
            commands = self.commands_of("editor", folder)
        files = {command["file"] for command in commands}
        self.assertEqual([file for file in files if "/Unity/" in file], [])
        for folder in ("libmini/parallel", "libmini/data", "libmini/tensor", "tests/data"):
            for path in sorted((ROOT / folder).glob("*.cpp")):
                self.assertIn(str(path), files)

    def test_files_have_the_flags_and_macros_of_their_precompiled_headers(self):
        """GCC refuses headers with other flags; a build with ccache has none."""
        with tempfile.TemporaryDirectory() as folder:
            commands = self.commands_of("release", folder, "-DCMAKE_CXX_COMPILER=g++",
                                        "-DCMAKE_CXX_COMPILER_LAUNCHER=",
                                        "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON")
        words = [shlex.split(command["command"]) for command in commands]
        headers = {header_of(each): each for each in words if "c++-header" in each}
        compared = 0
        for each in words:
            owner = headers.get(header_of(each))
            if owner and owner is not each:
                with self.subTest(each[-1]):
                    self.assertEqual(flags(each), flags(owner))
                    self.assertLessEqual(macros(owner), macros(each))
                compared += 1
        if headers:  # a compiler for which precompiled headers save time
            self.assertGreater(compared, 100)

    def commands_of(self, preset, folder, *options):
        """Returns the compile commands of a build by `preset` in `folder`."""
        done = subprocess.run(["cmake", "--preset", preset, "-B", folder, *options], cwd=ROOT,
                              capture_output=True, text=True)
        self.assertEqual(done.returncode, 0, done.stderr)
        return json.loads((Path(folder) / "compile_commands.json").read_text())


def header_of(words):
    """Returns the precompiled header that a command includes or makes, if any."""
    return words[words.index("-include") + 1] if "-include" in words else None


def flags(words):
    """Returns the flags that must be equal; the level of -g need not be."""
    return {re.sub(r"^-g\d$", "-g", word) for word in words if re.match("-[fmOg]|-std", word)}


def macros(words):
    return {word for word in words if word.startswith("-D")}


if __name__ == "__main__":
    unittest.main()
