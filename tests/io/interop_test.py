"""Exchanges files between libmini and Python's safetensors; all bits must be preserved.

Usage: interop_test.py SAFETENSORS_COPY. The program SAFETENSORS_COPY loads a file and
saves it again. Python writes a file, the program copies it, and Python reads the copy:
bytes, names, shapes, dtypes and metadata must be equal. If this Python has no package
safetensors, exits with code 77 (skipped).
"""

import ctypes
import json
import random
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

sys.path.append(str(Path(__file__).resolve().parents[2] / "build" / "python"))
try:
    import safetensors
    from safetensors import deserialize, serialize
except ImportError:
    print("skipped: this Python has no safetensors; tests/python_packages.sh installs it")
    sys.exit(77)

ITEM_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int64": 8, "uint8": 1}
PRINTED = {"float32": "F32", "float16": "F16", "bfloat16": "BF16", "int64": "I64", "uint8": "U8"}
SHAPES = [[], [0], [1], [7], [3, 5], [2, 0, 3], [1, 2, 3, 4]]
METADATA = {"step": "420", "note": "größe\n\"quoted\" \\ \u0000"}
COPY = sys.argv.pop(1)


def tensors_of(dtypes):
    """Returns tensors of random bytes, which include subnormals, infinities and NaNs."""
    numbers = random.Random(5)
    tensors = {}
    for dtype in dtypes:
        for shape in SHAPES:
            count = 1
            for size in shape:
                count *= size
            data = numbers.randbytes(count * ITEM_BYTES[dtype])
            tensors[f"{dtype}.{shape}"] = {"dtype": dtype, "shape": shape, "data": data}
    return tensors


def written(tensors, metadata):
    """Returns the file that Python's safetensors writes.

    Since version 0.8, serialize takes the addresses of the data; older versions take bytes.
    """
    if not hasattr(safetensors, "TensorSpec"):
        return bytes(serialize(tensors, metadata))
    buffers, specs = [], {}
    for name, tensor in tensors.items():
        data = tensor["data"]
        buffers.append(ctypes.create_string_buffer(data, max(1, len(data))))
        specs[name] = safetensors.TensorSpec(
            dtype=tensor["dtype"], shape=tensor["shape"],
            data_ptr=ctypes.addressof(buffers[-1]), data_len=len(data))
    return bytes(serialize(specs, metadata))


def copied(data):
    with tempfile.TemporaryDirectory() as folder:
        before, after = Path(folder) / "before", Path(folder) / "after"
        before.write_bytes(data)
        subprocess.run([COPY, before, after], check=True)
        return after.read_bytes()


class InteropTest(unittest.TestCase):
    def test_every_dtype_and_shape_is_preserved(self):
        tensors = tensors_of(ITEM_BYTES)
        back = dict(deserialize(copied(written(tensors, METADATA))))
        self.assertEqual(set(back), set(tensors))
        for name, tensor in tensors.items():
            with self.subTest(name):
                self.assertEqual(back[name]["dtype"], PRINTED[tensor["dtype"]])
                self.assertEqual(back[name]["shape"], tensor["shape"])
                self.assertEqual(bytes(back[name]["data"]), tensor["data"])

    def test_metadata_is_preserved(self):
        data = copied(written(tensors_of(["uint8"]), METADATA))
        header = json.loads(data[8:8 + int.from_bytes(data[:8], "little")])
        self.assertEqual(header["__metadata__"], METADATA)

    def test_elements_are_in_the_same_order(self):
        """The header keys may be in another order, but the data bytes must be equal."""

        def numbers(data):
            return data[8 + int.from_bytes(data[:8], "little"):]

        data = written(tensors_of(ITEM_BYTES), METADATA)
        self.assertEqual(numbers(copied(data)), numbers(data))


unittest.main(argv=sys.argv[:1])
