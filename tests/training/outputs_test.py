"""train_mnist refuses outputs that it cannot write before its first step, and reports lost ones.

Usage: outputs_test.py BIN_DIR.
"""

import os
import socket
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

BIN = Path(sys.argv.pop(1))
STEPS = 3


class Refusals(unittest.TestCase):
    """Runs train_mnist with files that it cannot write."""

    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.folder = Path(place.name)

    def train(self, *options):
        words = [BIN / "train_mnist", "--data", "digits", "--steps", STEPS, "--batch-size", 8, *options]
        return subprocess.run(list(map(str, words)), capture_output=True, text=True, timeout=200)

    def check_refused(self, option, target, *options):
        with self.subTest(option=option, target=str(target)[:40]):
            done = self.train(option, target, *options)
            self.assertIn(done.returncode, (1, 2), done.stdout + done.stderr)
            self.assertNotIn("epoch", done.stdout + done.stderr)  # of the progress bar or a result
            self.assertEqual(len(done.stderr.splitlines()), 1, done.stderr)
            self.assertIn(str(target), done.stderr)

    def targets(self):
        """Yields paths where no file can be saved."""
        yield from ("/dev/null", "/dev/stdout", "/dev/full", "/proc/model")
        yield self.folder / ("x" * 260)
        yield self.folder / "nowhere" / "model"
        pipe = self.folder / "pipe"
        os.mkfifo(pipe)
        yield pipe
        with socket.socket(socket.AF_UNIX) as opened:
            opened.bind(str(self.folder / "socket"))
            yield self.folder / "socket"
        dangling = self.folder / "dangling"
        dangling.symlink_to(self.folder / "nowhere" / "model")
        yield dangling
        loop = self.folder / "loop"
        loop.symlink_to(loop)
        yield loop


class Outputs(Refusals):
    def test_a_model_that_cannot_be_saved(self):
        for target in self.targets():
            self.check_refused("--save", target)
        self.check_refused("--save", self.folder)

    def test_a_folder_that_cannot_hold_checkpoints(self):
        for target in self.targets():
            if "nowhere" not in str(target):  # this folder is created
                self.check_refused("--checkpoint", target)
        self.check_refused("--checkpoint", "/proc/self")

    def test_what_can_be_written_is_written(self):
        model, saved = self.folder / "model", self.folder / "new/saved"
        target = self.folder / "target"
        target.write_text("old")
        model.symlink_to(target)
        done = self.train("--save", model, "--checkpoint", saved)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertGreater(model.stat().st_size, 1000)
        self.assertEqual([path.name for path in saved.iterdir()], [f"checkpoint-{STEPS:08}.safetensors"])
        self.assertEqual(sorted(path.name for path in self.folder.iterdir()), ["model", "new", "target"])

    def test_results_that_do_not_fit_on_the_disk_are_a_failure(self):
        for words in ([BIN / "train_mnist", "--data", "digits", "--steps", "1", "--json"], [BIN / "mini", "indices", "randperm", "--n", "9"]):
            with self.subTest(program=words[0].name), open("/dev/full", "w") as full:
                done = subprocess.run(words, stdout=full, stderr=subprocess.PIPE, text=True, timeout=200)
                self.assertEqual(done.returncode, 1, done.stderr)
                self.assertIn("stdout could not be written", done.stderr)

    def test_with_closed_standard_files_no_other_file_gets_the_output(self):
        script = '"$0" --data digits --steps 1 --json "$@" --save model <&- >&- 2>&-'
        program = (BIN / "train_mnist").resolve()
        has_report = b"  report  " in subprocess.run([BIN / "mini", "--help"], capture_output=True).stdout
        words = ["sh", "-c", script, program, *(["--logdir", "log"] if has_report else [])]
        done = subprocess.run(words, cwd=self.folder, timeout=200)
        self.assertEqual(done.returncode, 0)
        files = [path for path in self.folder.rglob("*") if path.is_file()]
        self.assertIn("model", [path.name for path in files])
        for path in files:
            self.assertNotIn(b'"train_loss":[', path.read_bytes(), path.name)


if __name__ == "__main__":
    unittest.main()
