"""Missing packages are found, and setup installs them."""

import contextlib
import io
import re
import tempfile
import unittest
from pathlib import Path
from unittest import mock

from lab_tool import packages
from lab_tool.packages import Package
from lab_tool.places import ROOT
from lab_tool.screen import LabError
from lab_tool.verbs import setup


class Probe(unittest.TestCase):
    def test_an_empty_machine_lacks_everything(self):
        with tempfile.TemporaryDirectory() as folder:
            with mock.patch.dict("os.environ", {"PATH": folder, "CPATH": ""}), \
                    mock.patch.object(packages, "INCLUDE_DIRS", (folder,)):
                names = [package.name for package in packages.missing()]
        expected = [package.name for package in packages.PACKAGES if not package.files[0].startswith("/")]
        self.assertEqual([name for name in names if name in expected], expected)

    def test_a_header_or_a_command_shows_that_a_package_is_installed(self):
        with tempfile.TemporaryDirectory() as folder:
            header = Package("lib", "", files=("lib/a.h", "lib/b.h"))
            with mock.patch.object(packages, "INCLUDE_DIRS", (folder,)):
                self.assertFalse(packages.is_present(header))
                (Path(folder) / "lib").mkdir()
                (Path(folder) / "lib" / "b.h").touch()
                self.assertTrue(packages.is_present(header))
        self.assertTrue(packages.is_present(Package("sh", "", files=("none-such", "sh"))))


# The libraries that CMake searches, and their packages.
LIBRARIES = {"Eigen3": "libeigen3-dev", "fmt": "libfmt-dev", "CLI11": "libcli11-dev",
             "nlohmann_json": "nlohmann-json3-dev", "Boost": "libboost-context-dev",
             "ZLIB": "zlib1g-dev", "OpenSSL": "libssl-dev", "Catch2": "catch2",
             "STB_INCLUDE_DIR": "libstb-dev", "Gloo": "libgloo-dev", "MPI": "libopenmpi-dev"}
NO_PACKAGE = {"Threads", "Python3", "MPI_HEADER", "NCCL_INCLUDE_DIR"}  # of another one, or by hand


class OneList(unittest.TestCase):
    """packages.py is the only list of packages."""

    NAMES = {package.name for package in packages.PACKAGES}

    def test_it_has_what_cmake_searches_and_no_other_library(self):
        text = "".join((ROOT / path).read_text() for path in (
            "libmini/cmake/MiniFlags.cmake", "libmini/cmake/MiniDependencies.cmake",
            "libmini/extras/backends/FindLibraries.cmake", "tests/CMakeLists.txt"))
        found = set(re.findall(r"find_(?:package|path)\((\w+)", text)) - NO_PACKAGE
        self.assertEqual({name for name in found if LIBRARIES.get(name) not in self.NAMES}, set())
        searched = {LIBRARIES[name] for name in found}
        self.assertEqual([package.name for package in packages.PACKAGES
                          if package.files[0].endswith((".h", ".hpp")) and
                          package.name not in searched], [])

    def test_the_container_and_ci_install_by_set_up(self):
        for path in (".devcontainer/Dockerfile", ".ci/run"):
            text = (ROOT / path).read_text(encoding="utf-8")
            self.assertIn("labs/lab setup", text, path)
            self.assertNotIn("apt", text.replace("/var/lib/apt/lists", ""), path)

    def test_pages_name_no_other_package(self):
        for path in [ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))]:
            for name in re.findall(r"\b([a-z0-9][\w+-]*-dev)\b", path.read_text(encoding="utf-8")):
                self.assertIn(name, self.NAMES, path)

    def test_the_table_of_other_systems_has_each_required_package(self):
        table = re.findall(r"^\| ([\w+-]+) (?:\| [\w+-]+ ){3}\|$",
                           (ROOT / "docs/pages/systems.md").read_text(encoding="utf-8"), re.MULTILINE)
        self.assertEqual(table, [each.name for each in packages.PACKAGES if not each.optional])


class Setup(unittest.TestCase):
    def install(self, lacking, *arguments, fails=None, answer=None, ci="", pip=Path("/none"), **options):
        """Calls install_missing() on a machine that lacks packages; apt_install() prints their names,
        or fails. `answer`: that of a terminal, which asks once. Returns what is printed."""
        apt = fails or (lambda names: print("APT", *names))
        with mock.patch.object(packages, "missing", return_value=lacking), \
                mock.patch.object(setup, "PYTHON_PACKAGES", pip), \
                mock.patch("sys.stdin.isatty", lambda: answer is not None), \
                mock.patch("shutil.which", lambda name: name), mock.patch.dict("os.environ", {"CI": ci}), \
                mock.patch("builtins.input", side_effect=[answer]) as self.question, \
                mock.patch.object(setup, "apt_install", side_effect=apt), \
                contextlib.redirect_stdout(io.StringIO()) as out:
            setup.install_missing(*arguments, **options)
        return out.getvalue()

    def test_it_asks_once_on_a_terminal_but_not_in_ci_and_not_as_setup(self):
        lacking = [Package("libfoo-dev", "draws foos"), Package("libbar-dev", "bars")]
        for options, asked in (({"answer": ""}, 1), ({"answer": "y"}, 1), ({"answer": "n", "ci": "true"}, 0),
                               ({"answer": "n", "asks": False}, 0), ({}, 0)):
            self.assertIn("APT libfoo-dev libbar-dev\n", self.install(lacking, **options))
            self.assertEqual(self.question.call_count, asked, options)
        with self.assertRaisesRegex(LabError, "nothing was installed; labs/lab setup"):
            self.install(lacking, answer="n")

    def test_with_no_missing_package_it_prints_one_line_and_does_not_run_apt(self):
        self.assertEqual(self.install([]), "setup: all packages are installed\n")

    def test_pip_prints_one_line_and_one_more_if_it_fails(self):
        with tempfile.TemporaryDirectory() as folder:
            pip = Path(folder) / "pip.sh"
            pip.write_text("#!/bin/sh\necho WARNING: retrying\necho continuing without axe-core\n")
            pip.chmod(0o755)
            with mock.patch.multiple(setup, BUILD=Path(folder), fresh_log=Path(folder).joinpath):
                told = self.install([], pip=pip)
            self.assertIn("WARNING", (Path(folder) / "pip").read_text())
        self.assertRegex(told, r"^setup: .*\nsetup: pip .*pip.log\)\n  continuing without axe-core\n$")

    def test_it_prints_packages_and_reasons_before_it_installs(self):
        self.assertRegex(self.install([Package("libfoo-dev", "draws foos")]),
                         r"libfoo-dev +draws foos\nAPT libfoo-dev\n$")

    def test_optional_packages_are_installed_unless_they_are_excluded(self):
        lacking = [Package("libfoo-dev", "draws foos"), Package("bar", "bars", optional=True)]
        self.assertRegex(self.install(lacking, True), "APT libfoo-dev bar\n$")
        self.assertRegex(self.install(lacking, False), "APT libfoo-dev\n$")

    def test_a_package_that_cannot_be_installed_stops_setup_only_if_required(self):
        bar, fails = Package("bar", "bars", optional=True), LabError("no apt-get")
        self.assertIn("continuing without bar: no apt-get", self.install([bar], fails=fails))
        with self.assertRaisesRegex(LabError, "no apt-get"):
            self.install([bar, Package("foo", "foos")], fails=fails)

    def prefix(self, commands, root, refused=0):
        with mock.patch("shutil.which", side_effect=lambda name: name in commands or None), \
                mock.patch("os.geteuid", return_value=0 if root else 1000), \
                mock.patch("subprocess.run") as run, contextlib.redirect_stdout(io.StringIO()):
            run.return_value.returncode = refused
            return setup.root_prefix(["libfmt-dev"])

    def test_root_does_not_use_sudo_and_other_users_do(self):
        self.assertEqual(self.prefix(["apt-get", "sudo"], root=True), [])
        self.assertEqual(self.prefix(["apt-get", "sudo"], root=False), ["sudo"])

    def test_without_apt_or_sudo_the_error_names_the_next_step(self):
        conda = "\nwithout root: conda-forge, see docs/pages/systems.md$"
        others = "  Fedora       fmt-devel\n  Arch         fmt\n  conda-forge  fmt"
        with self.assertRaisesRegex(LabError, f"no apt-get here.*\n{others}{conda}"):
            self.prefix([], root=True)
        by_hand = "sudo is missing or refused; as root, run: apt-get update && .* libfmt-dev"
        for commands in (["apt-get"], ["apt-get", "sudo"]):
            with self.assertRaisesRegex(LabError, f"{by_hand}{conda}"):
                self.prefix(commands, root=False, refused=1)
