"""train_mnist --logdir: a folder that cannot be written is refused, and the files agree with the run.

Usage: logdir_test.py BIN_DIR.
"""

import json
import os
import subprocess
import sys
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "training"))
import outputs_test  # noqa: E402
from runs import train  # noqa: E402


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

    def test_the_log_has_the_accuracy_and_the_page_of_the_run(self):
        log = self.folder / "run"
        train(outputs_test.BIN, "--bucket-cap-mb", "0.05", "--logdir", log)
        lines = map(json.loads, (log / "metrics.jsonl").read_text().splitlines())
        accuracy, = (line["test_accuracy"] for line in lines if line["kind"] == "epoch")
        without = train(outputs_test.BIN, "--bucket-cap-mb", "0.05", "--json")
        self.assertEqual(json.loads(without)["test_accuracy"], [accuracy])
        page = (log / "report.html").read_text()
        for part in ("bucket 0", "rank 1 communication", "Loss and accuracy"):
            self.assertIn(part, page)

        (log / "report.html").unlink()
        mini = [outputs_test.BIN / "mini", "report"]
        again = subprocess.run([*mini, log], capture_output=True, text=True, timeout=60)
        self.assertEqual((again.returncode, again.stdout), (0, f"{log}/report.html\n"), again.stderr)
        self.assertEqual((log / "report.html").read_text(), page)
        none = subprocess.run([*mini, self.folder], capture_output=True, text=True, timeout=60)
        self.assertEqual(none.returncode, 1)
        self.assertIn("metrics.jsonl: cannot open", none.stderr)


if __name__ == "__main__":
    unittest.main()
