"""Python's safetensors finds in a saved model the parameters that train_mnist has trained.

Usage: saved_model_test.py BIN_DIR. If this Python has no package safetensors, exits with code 77
(skipped).
"""

import hashlib
import json
import sys
import tempfile
import unittest
from pathlib import Path

TESTS = Path(__file__).resolve().parents[1]
sys.path += [str(TESTS / "extras/report"), str(TESTS.parent / "build/python")]
from runs import train  # noqa: E402

try:
    from safetensors import deserialize
except ImportError as error:
    print(f"skipped: {error}; labs/lab setup tries to install it")
    sys.exit(77)

PROGRAMS = Path(sys.argv.pop(1))
SHAPES = {"conv1.weight": [10, 1, 5, 5], "conv1.bias": [10], "conv2.weight": [20, 10, 5, 5],
          "conv2.bias": [20], "fc1.weight": [50, 320], "fc1.bias": [50], "fc2.weight": [10, 50],
          "fc2.bias": [10]}


class SavedModel(unittest.TestCase):
    def test_its_tensors_are_the_trained_parameters(self):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder) / "model.safetensors"
            trained = json.loads(train(PROGRAMS, "--save", file, "--json"))["parameters_sha256"]
            tensors = dict(deserialize(file.read_bytes()))
        self.assertEqual({name: tensor["shape"] for name, tensor in tensors.items()}, SHAPES)
        self.assertEqual({tensor["dtype"] for tensor in tensors.values()}, {"F32"})
        data = b"".join(bytes(tensors[name]["data"]) for name in SHAPES)
        self.assertEqual([hashlib.sha256(data).hexdigest()] * 2, trained)


if __name__ == "__main__":
    unittest.main()
