"""The shell script labs/lab, with and without Python."""

import os
import shutil
import subprocess
import tempfile
import unittest
from pathlib import Path

LAB = Path(__file__).resolve().parents[2] / "labs" / "lab"
NEEDED = ("sh", "dirname", "readlink", "env", "cat", "uname")


class Machine:
    """A PATH that has only the commands that a test adds."""

    def __init__(self, folder):
        self.folder = Path(folder)
        self.calls = self.folder / "calls"
        for name in NEEDED:
            (self.folder / name).symlink_to(shutil.which(name))

    def command(self, name, body):
        path = self.folder / name
        path.unlink(missing_ok=True)
        path.write_text(f"#!/bin/sh\necho {name} \"$@\" >> {self.calls}\n{body}\n")
        path.chmod(0o755)

    def user(self, number):
        self.command("id", f"echo {number}")

    def lab(self, *words, **environment):
        return subprocess.run(
            [str(LAB), *words], env={"PATH": str(self.folder), **environment},
            capture_output=True, text=True,
        )

    def called(self):
        return self.calls.read_text() if self.calls.exists() else ""


class Entry(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.machine = Machine(folder.name)

    def python_comes_with_apt(self):
        """Makes apt-get install a python3 that prints a line when it runs."""
        python = self.machine.folder / "python3"
        self.machine.command("apt-get", f"""case "$*" in *install*)
            echo '#!/bin/sh' > {python}; echo 'echo python runs $*' >> {python}
            {shutil.which("chmod")} 755 {python};; esac""")

    def test_arguments_are_passed_to_python_unchanged(self):
        (self.machine.folder / "python3").write_text('#!/bin/sh\nfor w; do echo "<$w>"; done\n')
        (self.machine.folder / "python3").chmod(0o755)
        out = self.machine.lab("test", "-R", "a b", "").stdout
        self.assertTrue(out.endswith("lab_tool>\n<test>\n<-R>\n<a b>\n<>\n"), out)

    def test_root_without_python_installs_it_and_continues(self):
        self.machine.user(0)
        self.python_comes_with_apt()
        result = self.machine.lab("--help")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("python3 is missing", result.stderr)
        self.assertIn("--help", result.stdout)
        self.assertIn("install -y --no-install-recommends python3", self.machine.called())

    def test_other_users_install_it_with_sudo(self):
        self.machine.user(1000)
        self.machine.command("sudo", 'exec "$@"')
        self.python_comes_with_apt()
        result = self.machine.lab("--help")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("sudo apt-get -qq update", self.machine.called())

    def test_without_sudo_the_command_for_root_is_printed(self):
        self.machine.user(1000)
        self.python_comes_with_apt()
        result = self.machine.lab("demo")
        self.assertEqual(result.returncode, 1)
        self.assertIn("as root, run: apt-get update && apt-get install", result.stderr)
        self.assertNotIn("apt-get", self.machine.called())

    def test_without_apt_the_next_step_is_printed(self):
        result = self.machine.lab("demo")
        self.assertEqual(result.returncode, 1)
        self.assertIn("install Python 3.10 or newer", result.stderr)

    def test_a_system_other_than_linux_is_named_with_the_container_to_use(self):
        for system in ("Darwin", "MINGW64_NT-10.0-22631", "FreeBSD"):
            self.machine.command("uname", f"echo {system}")
            result = self.machine.lab("demo")
            self.assertEqual(result.returncode, 1)
            self.assertIn(f"this is {system}; open this folder in its development container (",
                          result.stderr)
        self.assertNotIn("python3", self.machine.called())

    def test_a_failing_apt_get_ends_the_script(self):
        self.machine.user(0)
        self.machine.command("apt-get", "exit 100")
        result = self.machine.lab("demo")
        self.assertEqual(result.returncode, 1)
        self.assertIn("apt-get failed", result.stderr)

    def test_it_runs_through_a_symlink_from_any_folder_without_a_home_folder(self):
        link = self.machine.folder / "somewhere"
        link.symlink_to(LAB)
        result = subprocess.run([str(link), "--help"], cwd="/", capture_output=True, text=True,
                                env={**os.environ, "HOME": "/nonexistent"})
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertIn("usage: labs/lab", result.stdout)
