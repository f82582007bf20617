"""TensorBoard's own reader finds in a run's event files what metrics.jsonl says.

Usage: reader_test.py BIN_DIR. Runs train_mnist on one rank and on two, and reads its folder. If this
Python has no package tensorboard, exits with code 77 (skipped).
"""

import json
import struct
import sys
import tempfile
import unittest
from pathlib import Path

from runs import STEPS, train

sys.path.append(str(Path(__file__).resolve().parents[3] / "build" / "python"))
try:
    from tensorboard.backend.event_processing.event_file_loader import EventFileLoader
    from tensorboard.util.tensor_util import make_ndarray
except ImportError as error:
    print(f"skipped: {error}; labs/lab setup tries to install TensorBoard's reader")
    sys.exit(77)

BIN = Path(sys.argv.pop(1))
OF_A_STEP = {"loss/step": "loss", "time/data": "data_s", "time/forward": "forward_s",
             "time/backward": "backward_s", "time/waiting": "waiting_s",
             "time/optimizer": "optimizer_s", "time/step": "step_s"}
OF_AN_EPOCH = {"loss/epoch": "train_loss", "accuracy/test": "test_accuracy", "lr": "lr"}


def lines_of(folder, kind):
    lines = (Path(folder) / "metrics.jsonl").read_text().splitlines()
    return [line for line in map(json.loads, lines) if line["kind"] == kind]


def scalars_of(folder):
    """Returns {tag: {step: value}} of the event files, as TensorBoard's reader finds them; the reader
    checks every checksum."""
    scalars = {}
    for file in Path(folder).glob("*tfevents*"):
        for event in EventFileLoader(str(file)).Load():
            for value in event.summary.value:
                scalars.setdefault(value.tag, {})[event.step] = make_ndarray(value.tensor).item()
    return scalars


def as_float(number):
    return struct.unpack("f", struct.pack("f", number))[0]


class Reader(unittest.TestCase):
    def test_the_scalars_are_those_of_metrics_jsonl(self):
        for ranks in (1, 2):
            with self.subTest(ranks=ranks), tempfile.TemporaryDirectory() as folder:
                train(BIN, "--logdir", folder, ranks=ranks)
                expected = {}
                for line in lines_of(folder, "step"):
                    for tag, name in OF_A_STEP.items():
                        if line["rank"] == 0:
                            expected.setdefault(tag, {})[line["step"]] = as_float(line[name])
                for line in lines_of(folder, "epoch"):
                    for tag, name in OF_AN_EPOCH.items():
                        expected.setdefault(tag, {})[line["steps"]] = as_float(line[name])
                self.assertEqual(len(expected["loss/step"]), STEPS)
                self.assertEqual(scalars_of(folder), expected)

    def test_the_reader_rejects_a_changed_byte(self):
        """Otherwise the test above would not show that the checksums are right."""
        with tempfile.TemporaryDirectory() as folder:
            train(BIN, "--logdir", folder, ranks=1)
            count = len(scalars_of(folder)["loss/step"])
            file, = Path(folder).glob("*tfevents*")
            data = bytearray(file.read_bytes())
            data[len(data) // 2] ^= 1
            file.write_bytes(data)
            self.assertLess(len(scalars_of(folder).get("loss/step", {})), count)


if __name__ == "__main__":
    unittest.main()
