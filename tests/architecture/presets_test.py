"""The presets use all cores, their warnings are errors, and clangd has a command for each file."""

import json
import re
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
            done = subprocess.run(["cmake", "--preset", "editor", "-B", folder], cwd=ROOT,
                                  capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stderr)
            commands = json.loads((Path(folder) / "compile_commands.json").read_text())
        files = {command["file"] for command in commands}
        self.assertEqual([file for file in files if "/Unity/" in file], [])
        for folder in ("libmini/parallel", "libmini/data", "libmini/tensor", "tests/data"):
            for path in sorted((ROOT / folder).glob("*.cpp")):
                self.assertIn(str(path), files)


if __name__ == "__main__":
    unittest.main()
