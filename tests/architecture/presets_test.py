"""The presets use all cores, and their warnings are errors."""

import json
import unittest
from pathlib import Path

PRESETS = json.loads((Path(__file__).resolve().parents[2] / "CMakePresets.json").read_text())


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


if __name__ == "__main__":
    unittest.main()
