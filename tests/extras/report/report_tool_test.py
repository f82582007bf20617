"""`mini report` makes the page of a run, and of two runs, from their folders.

Usage: report_tool_test.py BIN_DIR. Runs train_mnist and mini.
"""

import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

from runs import train

BIN = Path(sys.argv.pop(1))


def run(*command):
    return subprocess.run([str(word) for word in command], capture_output=True, text=True, timeout=200)


class Report(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def test_it_makes_the_page_that_training_made(self):
        first = self.folder / "first"
        train(BIN, "--bucket-cap-mb", "0.05", "--logdir", first)
        page = first / "report.html"
        written = page.read_text()
        page.unlink()
        done = run(BIN / "mini", "report", first)
        self.assertEqual((done.returncode, done.stdout), (0, f"{page}\n"), done.stderr)
        self.assertEqual(page.read_text(), written)
        for part in ("bucket 0", "rank 1 communication", "Loss and accuracy"):
            self.assertIn(part, written)

    def test_it_compares_two_runs(self):
        runs = self.folder / "ddp", self.folder / "average"
        for folder, ranks in zip(runs, (1, 3)):
            train(BIN, "--sync", folder.name, "--logdir", folder, ranks=ranks)
        output = self.folder / "both.html"
        done = run(BIN / "mini", "report", *runs, "--output", output)
        self.assertEqual(done.returncode, 0, done.stderr)
        for name in ("ddp", "average", "average, rank 2"):
            self.assertIn(name, output.read_text())

    def test_the_accuracy_is_that_of_a_run_without_a_log(self):
        train(BIN, "--logdir", self.folder / "run")
        lines = map(json.loads, (self.folder / "run/metrics.jsonl").read_text().splitlines())
        accuracy, = (line["test_accuracy"] for line in lines if line["kind"] == "epoch")
        self.assertEqual(json.loads(train(BIN, "--json"))["test_accuracy"], [accuracy])

    def test_what_is_no_run_is_named(self):
        done = run(BIN / "mini", "report", self.folder)
        self.assertEqual(done.returncode, 1)
        self.assertIn("metrics.jsonl: cannot open", done.stderr)
        self.assertEqual(run(BIN / "mini", "report", "a", "b", "c").returncode, 2)


if __name__ == "__main__":
    unittest.main()
