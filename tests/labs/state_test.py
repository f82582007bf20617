"""A kill while saving keeps the old file; a broken file is reported; other versions are rejected."""

import os
import tempfile
import unittest
from argparse import Namespace
from pathlib import Path
from unittest import mock

from lab_tool.screen import LabError
from lab_tool.state import State


class Remember(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.root = Path(folder.name)
        self.path = self.root / "work" / ".lab.json"

    def saved(self):
        state = State(self.root)
        state.of("07")["hints"]["07.1"] = 2
        state.current = "07"
        state.save()
        return state

    def test_a_saved_state_is_loaded(self):
        self.saved()
        again = State(self.root)
        self.assertEqual((again.current, again.of("07")["hints"]), ("07", {"07.1": 2}))
        self.assertEqual(again.result("09.1"), "")

    def test_results_are_added_to_what_was_stored_during_the_check(self):
        during_a_check = self.saved()
        other = State(self.root)
        other.of("12")["hints"]["12.1"] = 1
        other.of("07")["hints"]["07.2"] = 1
        other.save()
        during_a_check.record("07", [Namespace(task="07.1", status="passed")])
        now = State(self.root)
        self.assertIn("12", now.labs)
        self.assertEqual(now.of("07")["hints"], {"07.1": 2, "07.2": 1})
        self.assertEqual(now.result("07.1"), "passed")

    def test_a_process_killed_while_saving_leaves_the_old_file(self):
        state = self.saved()
        before = self.path.read_bytes()
        state.current = "09"
        with mock.patch.object(os, "replace", side_effect=KeyboardInterrupt):
            with self.assertRaises(KeyboardInterrupt):
                state.save()
        self.assertEqual(self.path.read_bytes(), before)

    def test_a_broken_file_and_one_of_another_version_are_reported_and_kept(self):
        self.saved()
        newer = self.path.read_text().replace('"version": 1', '"version": 2')
        for content in ("{", "[]", '{"version": 1}', "\x00",
                        '{"version": 1, "labs": [1], "current": ""}', newer):
            self.path.write_text(content)
            with self.assertRaisesRegex(LabError, r".lab.json cannot be read \(.*: delete it") as told:
                State(self.root)
            self.assertEqual(self.path.read_text(), content)
        self.assertIn("written by a newer libmini", str(told.exception))
