"""`labs/lab watch` checks at once and after each save until Ctrl-C; removed files do not end it."""

import contextlib
import io
import os
import unittest
from unittest import mock

from fake_tree import PARTITION, FakeTree
from lab_tool import cli
from lab_tool.screen import LabError
from lab_tool.state import State
from lab_tool.verbs import watch


class Watch(FakeTree):
    """The learner's actions replace the sleep between two polls."""

    def setUp(self):
        super().setUp()
        self.write("work/libmini/part.cpp", PARTITION)
        state = State(self.root)
        state.of("07")["started"] = True
        state.save()
        self.checked = []
        for name, value in (("Catalogue", self.catalogue), ("ROOT", self.root),
                            ("State", lambda: State(self.root)), ("check", self.check)):
            patch = mock.patch(f"lab_tool.verbs.watch.{name}", value)
            patch.start()
            self.addCleanup(patch.stop)

    def check(self, catalogue, state, lab, tasks):
        self.checked.append(tasks or lab.number)
        (self.root / "work/libmini/part.cpp").read_text()  # raises like a build if it is missing

    def live(self, *actions, what="7"):
        """Watches while the actions run, one per poll, and then simulates Ctrl-C."""
        steps = iter(actions)

        def wait(seconds):
            action = next(steps, None)
            if action is None:
                raise KeyboardInterrupt
            action()

        out = io.StringIO()
        with mock.patch("time.sleep", wait), contextlib.redirect_stdout(out), \
                contextlib.redirect_stderr(out):
            self.assertEqual(cli.main(["watch", what]), 130)
        return out.getvalue()

    def save(self, text="// saved\n"):
        own = self.root / "work/libmini/part.cpp"
        own.parent.mkdir(parents=True, exist_ok=True)
        own.write_text(own.read_text() + text if own.exists() else text)

    def do_nothing(self):
        pass

    def test_it_checks_immediately_and_after_each_save_only(self):
        out = self.live(self.do_nothing, self.save, self.do_nothing, self.do_nothing, self.save)
        self.assertEqual(self.checked, ["07"] * 3)
        self.assertEqual(out.count("watching work/ (Ctrl-C ends)"), 3)
        self.assertTrue(out.endswith("lab: stopped\n"))

    def test_it_can_watch_one_task(self):
        self.live(what="7.2")
        self.assertEqual(self.checked, [["07.2"]])

    def test_a_save_during_a_check_is_checked_too(self):
        saves = [self.save]

        def check(*arguments):
            self.check(*arguments)
            if saves:
                saves.pop()()

        with mock.patch("lab_tool.verbs.watch.check", check):
            self.live(self.do_nothing, self.do_nothing)
        self.assertEqual(len(self.checked), 2)

    def test_it_survives_a_removed_file_and_checks_when_it_is_back(self):
        own = self.root / "work/libmini/part.cpp"
        self.write("work/libmini/other.cpp", "")
        self.write("libmini/other.cpp", "// [lab07.2] Do.\nx();\n// [lab07.2]\n")
        out = self.live(own.unlink, self.save)
        self.assertEqual(len(self.checked), 3)
        self.assertIn("part.cpp", out)

    def test_it_survives_a_removed_folder_and_an_error_in_a_check(self):
        work, aside = self.root / "work", self.root / "aside"
        out = self.live(lambda: work.rename(aside), lambda: aside.rename(work))
        self.assertIn("lab: lab 07 is not started; run: labs/lab start 07", out)
        self.assertEqual(len(self.checked), 2)
        with mock.patch("lab_tool.verbs.watch.check", side_effect=LabError("no room")):
            self.assertEqual(self.live(self.save).count("lab: no room"), 2)

    def test_a_lab_that_cannot_be_watched_prints_one_error(self):
        out = io.StringIO()
        with contextlib.redirect_stderr(out):
            self.assertEqual(cli.main(["watch", "9"]), 1)
        self.assertEqual(out.getvalue(), "lab: lab 09 is not started; run: labs/lab start 09\n")

    def test_a_dangling_symlink_is_skipped(self):
        os.symlink("user@host.1", self.root / "work/libmini/.#part.cpp")  # an editor's lock
        self.assertEqual(list(watch.saved(self.root / "work")),
                         [str(self.root / "work/libmini/part.cpp")])


if __name__ == "__main__":
    unittest.main()
