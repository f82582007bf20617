"""train_mnist --logdir: a folder that cannot be written is refused, the files agree with the run, and after
a crash the event files void the scalars of the steps that are done again.

Usage: logdir_test.py BIN_DIR. Reads the event files without TensorFlow.
"""

import json
import os
import struct
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "training"))
import outputs_test  # noqa: E402
from runs import BATCH, STEPS, TRAIN_IMAGES, train  # noqa: E402

STEPS_PER_EPOCH = TRAIN_IMAGES // BATCH


def varint(data, at):
    value = shift = 0
    while True:
        byte = data[at]
        at += 1
        value |= (byte & 127) << shift
        shift += 7
        if byte < 128:
            return value, at


def fields(data):
    """Yields the number and the value of each field of a protocol buffer."""
    at = 0
    while at < len(data):
        key, at = varint(data, at)
        if key & 7 == 0:
            value, at = varint(data, at)
        else:
            size = {1: 8, 5: 4}.get(key & 7)
            if size is None:
                size, at = varint(data, at)
            value, at = data[at:at + size], at + size
        yield key >> 3, value


def events_of(path):
    data = path.read_bytes()
    at = 0
    while at < len(data):
        (size,) = struct.unpack_from("<Q", data, at)
        yield dict(fields(data[at + 12:at + 12 + size]))
        at += size + 16


def shown(folder):
    """Returns {tag: steps} that TensorBoard shows: the start of a session voids all from its step on."""
    tags = {}
    for path in sorted(folder.glob("*tfevents*")):
        for event in events_of(path):
            step = event.get(2, 0)
            if 7 in event and dict(fields(event[7]))[1] == 1:
                tags = {tag: [old for old in steps if old < step] for tag, steps in tags.items()}
            if 5 in event:
                value = dict(fields(dict(fields(event[5]))[1]))
                tags.setdefault(value[1].decode(), []).append(step)
    return tags


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


class Resumed(unittest.TestCase):
    def setUp(self):
        place = tempfile.TemporaryDirectory()
        self.addCleanup(place.cleanup)
        self.log, self.saved = Path(place.name) / "log", Path(place.name) / "saved"

    def run_steps(self, steps, every):
        options = [] if every is None else ["--every", every]
        train(outputs_test.BIN, "--logdir", self.log, "--checkpoint", self.saved, *options, ranks=1, steps=steps)

    def lose_the_newest_checkpoint(self):
        sorted(self.saved.iterdir())[-1].unlink()

    def test_no_step_is_shown_twice_after_a_crash(self):
        self.run_steps(STEPS, every=2)
        self.lose_the_newest_checkpoint()  # the process resumes after step 2
        self.run_steps(8, every=2)
        tags = shown(self.log)
        self.assertEqual(tags["loss/step"], list(range(8)))
        self.assertEqual(tags["time/step"], list(range(8)))
        self.assertEqual(tags["accuracy/test"], [STEPS_PER_EPOCH, 8])

    def test_an_epoch_that_ended_at_the_checkpoint_stays(self):
        self.check_epochs(every=None)  # saved after the end of the epoch

    def test_an_epoch_that_a_resumed_run_ends_again_is_shown_once(self):
        self.check_epochs(every=STEPS_PER_EPOCH)  # saved before the end of the epoch

    def check_epochs(self, every):
        self.run_steps(STEPS_PER_EPOCH + 2, every)
        self.lose_the_newest_checkpoint()
        self.run_steps(2 * STEPS_PER_EPOCH, every)
        tags = shown(self.log)
        self.assertEqual(tags["loss/step"], list(range(2 * STEPS_PER_EPOCH)))
        for tag in ("loss/epoch", "accuracy/test", "lr"):
            self.assertEqual(tags[tag], [STEPS_PER_EPOCH, 2 * STEPS_PER_EPOCH])

    def test_a_run_from_the_beginning_voids_all_steps(self):
        for _ in range(2):
            train(outputs_test.BIN, "--logdir", self.log, ranks=1)
        self.assertEqual(shown(self.log)["loss/step"], list(range(STEPS)))


if __name__ == "__main__":
    unittest.main()
