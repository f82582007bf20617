"""libmini as a part of another project: by add_subdirectory, and by FetchContent.

The compiler is CXX. MINI_BUILD_DIR holds the project's builds.
"""

import os
import re
import shutil
import subprocess
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILDS = Path(os.environ["MINI_BUILD_DIR"]) / "tests/install"
KEPT = ("CMAKE_CXX_STANDARD", "CMAKE_CXX_FLAGS", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_MODULE_PATH",
        "CMAKE_RUNTIME_OUTPUT_DIRECTORY", "BUILD_TESTING")


def run(*command):
    """Returns the output of a command; fails the test unless it succeeds."""
    done = subprocess.run([str(word) for word in command], capture_output=True, text=True, check=False,
                          timeout=1000)
    if done.returncode != 0:
        raise AssertionError(f"{command} exited with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout + done.stderr


def configure(name, *options):
    """Configures the project in a folder of its own; returns the folder and CMake's output."""
    build = BUILDS / name
    shutil.rmtree(build, ignore_errors=True)
    generator = ["-G", "Ninja"] if shutil.which("ninja") else []
    output = run("cmake", "-S", HERE / "part", "-B", build, *generator, f"-DLIBMINI={ROOT}",
                 f"-DCMAKE_CXX_COMPILER={os.environ['CXX']}", "-DCMAKE_EXPORT_COMPILE_COMMANDS=ON",
                 "-DMINI_CUDA=OFF", *options)
    return build, output


class Part(unittest.TestCase):
    def check_variables(self, output):
        for variable in KEPT:
            self.assertIn(f"-- {variable} is ''", output)

    def test_a_project_builds_the_parts_that_it_links_with_its_own_flags(self):
        build, output = configure("part")
        self.check_variables(output)
        run("cmake", "--build", build)
        self.assertEqual(run(build / "sum"), "sum 42\n")

        commands = (build / "compile_commands.json").read_text(encoding="utf-8")
        (mine,) = re.findall(r'"command": "(.*part/sum\.cpp)"', commands)
        self.assertIn("-ffp-contract=off", mine)
        self.assertIn("-std=", mine)
        for flag in ("-Werror", "-Wall", "-march", "-fuse-ld"):
            self.assertNotIn(flag, mine)
        self.assertNotIn("-Werror", commands)  # libmini's own files are compiled by any compiler

        # No test, no program, and nothing to install of libmini.
        self.assertIn("Total Tests: 0", run("ctest", "--test-dir", build, "-N"))
        targets = run("cmake", "--build", build, "--target", "help")
        for target in ("minirun", "docs", "lab01_check", "core_test"):
            self.assertNotRegex(targets, rf"(?m)^(\.\.\. )?{target}\b")
        run("cmake", "--install", build, "--prefix", build / "installed")
        self.assertEqual([path.name for path in (build / "installed").rglob("*")], [])

    def test_fetch_content_declares_the_same_targets(self):
        build, output = configure("fetched", "-DFETCH=ON")
        self.check_variables(output)
        self.assertRegex(run("cmake", "--build", build, "--target", "help"), r"(?m)^(\.\.\. )?train\b")


if __name__ == "__main__":
    unittest.main()
