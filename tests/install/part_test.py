"""libmini as a part of another project: by add_subdirectory, and by FetchContent.

The compiler is CXX. MINI_BUILD_DIR holds the project's builds.
"""

import os
import re
import shutil
import unittest
from pathlib import Path

from tests.install.install_test import run

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]
BUILDS = Path(os.environ["MINI_BUILD_DIR"]) / "tests/install"
KEPT = ("CMAKE_CXX_STANDARD", "CMAKE_CXX_FLAGS", "CMAKE_CXX_COMPILER_LAUNCHER", "CMAKE_MODULE_PATH",
        "CMAKE_RUNTIME_OUTPUT_DIRECTORY", "BUILD_TESTING")

# What Eigen installs: version 5 accepts no request for another first number.
EIGEN_CONFIG = """if(NOT TARGET Eigen3::Eigen)
  add_library(Eigen3::Eigen INTERFACE IMPORTED)
endif()
"""
EIGEN_VERSION = """set(PACKAGE_VERSION "{}")
if(PACKAGE_FIND_VERSION AND NOT PACKAGE_VERSION MATCHES "^${{PACKAGE_FIND_VERSION_MAJOR}}[.]")
  set(PACKAGE_VERSION_UNSUITABLE TRUE)
endif()
"""


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
        self.assertEqual(run(build / "draw"), "draw 4150886329\n")  # random.Random(1234)

        commands = (build / "compile_commands.json").read_text(encoding="utf-8")
        (mine,) = re.findall(r'"command": "(.*part/draw\.cpp)"', commands)
        self.assertIn("-ffp-contract=off", mine)
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

    def eigen(self, version):
        """Returns a folder with the files of an installed Eigen, which has no headers."""
        folder = BUILDS / f"eigen-{version}"
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "Eigen3Config.cmake").write_text(EIGEN_CONFIG, encoding="utf-8")
        (folder / "Eigen3ConfigVersion.cmake").write_text(EIGEN_VERSION.format(version), encoding="utf-8")
        return folder

    def test_eigen_5_is_taken_and_eigen_3_3_is_rejected_with_the_remedy(self):
        for version in ("5.0.1", "3.4.90"):
            folder = self.eigen(version)
            build, _ = configure("with-eigen", f"-DEigen3_DIR={folder}")
            self.assertIn(f"Eigen3_DIR:PATH={folder}\n", (build / "CMakeCache.txt").read_text())
        folder = self.eigen("3.3.9")
        with self.assertRaisesRegex(AssertionError, r"Eigen 3\.3\.9 in \S+ is\s+too\s+old:\s+install\s+Eigen"):
            configure("with-eigen", f"-DEigen3_DIR={folder}")

    def test_libmini_itself_is_optimised_unless_another_type_is_given(self):
        build = BUILDS / "untyped"
        for options, found in (([], "Release"), (["-DCMAKE_BUILD_TYPE=Debug"], "Debug")):
            shutil.rmtree(build, ignore_errors=True)
            run("cmake", "-G", "Ninja", "-S", ROOT, "-B", build,
                f"-DCMAKE_CXX_COMPILER={os.environ['CXX']}",
                "-DMINI_TESTS=OFF", "-DMINI_CUDA=OFF", *options)
            self.assertIn(f"CMAKE_BUILD_TYPE:STRING={found}\n", (build / "CMakeCache.txt").read_text())

    def test_fetch_content_declares_the_same_targets(self):
        build, output = configure("fetched", "-DFETCH=ON")
        self.check_variables(output)
        self.assertRegex(run("cmake", "--build", build, "--target", "help"), r"(?m)^(\.\.\. )?train\b")
