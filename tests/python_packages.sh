#!/bin/sh
# Installs the Python modules that some tests use into build/python; without them, these tests are
# skipped. Of TensorBoard only the reader of event files is used; the whole has 160 MB.
cd "$(dirname "$0")/.." || exit 1
python3 -m pip install --quiet --disable-pip-version-check --no-deps --target build/python \
    safetensors tensorboard protobuf numpy absl-py ||
    echo "continuing without Python's safetensors and tensorboard: tests will be skipped"
