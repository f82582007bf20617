"""train_mnist refuses a --logdir that it cannot write before its first step.

Usage: logdir_test.py BIN_DIR.
"""

import os
import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "training"))
import outputs_test  # noqa: E402


class Logdir(outputs_test.Refusals):
    def test_a_folder_that_cannot_hold_the_log(self):
        for target in self.targets():
            if "nowhere" not in str(target):  # this folder is created
                self.check_refused("--logdir", target)
        self.check_refused("--logdir", "/proc/self")
        for name in ("metrics.jsonl", "trace.json", "report.html"):
            folder = self.folder / f"has a pipe {name}"
            folder.mkdir()
            os.mkfifo(folder / name)
            self.check_refused("--logdir", folder)

    def test_a_folder_is_created(self):
        log = self.folder / "new/log"
        done = self.train("--logdir", log)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual({path.name.split(".tfevents")[0] for path in log.iterdir()},
                         {"metrics.jsonl", "trace.json", "report.html", "events.out"})


if __name__ == "__main__":
    unittest.main()
