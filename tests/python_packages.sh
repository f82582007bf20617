#!/bin/sh
# Installs the Python modules that some tests use into build/python; without them, these tests are
# skipped. Of TensorBoard only the reader of event files is used; the whole has 160 MB. Of
# axe-playwright-python only axe-core is used, which checks pages for accessibility.
cd "$(dirname "$0")/.." || exit 1
python3 -m pip install --quiet --disable-pip-version-check --retries 1 --no-deps \
    --target build/python safetensors tensorboard protobuf numpy absl-py axe-playwright-python ||
    echo "continuing without Python's safetensors, tensorboard and axe-core: tests will be skipped"
