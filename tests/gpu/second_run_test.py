"""Tests named "... on cuda" must have MINI_TEST_DEVICE=cuda in their environment, or they run on the CPU."""

import json
import os
import subprocess
import unittest

ON_CUDA = " on cuda:"
DEVICE_SETTING = "MINI_TEST_DEVICE=cuda"


def tests_of(build):
    """Yields the name and the environment of each test that ctest would run."""
    listed = subprocess.run(["ctest", "--test-dir", build, "--show-only=json-v1"],
                            capture_output=True, text=True, check=True).stdout
    for test in json.loads(listed)["tests"]:
        properties = {each["name"]: each["value"] for each in test["properties"]}
        yield test["name"], properties.get("ENVIRONMENT", [])


class SecondRun(unittest.TestCase):
    def test_only_tests_on_cuda_have_the_device_in_their_environment(self):
        rooms = set()
        for name, environment in tests_of(os.environ["MINI_BUILD_DIR"]):
            with self.subTest(name):
                self.assertEqual(DEVICE_SETTING in environment, ON_CUDA in name)
            if ON_CUDA in name:
                rooms.add(name.split(ON_CUDA)[0])
        self.assertEqual(rooms, {"tensor", "autograd", "nn", "optim", "parallel",
                                 "resnet", "training"})
