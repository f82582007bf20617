"""With MINI_NATIVE=OFF the dynamic loader takes the level of a room that the processor has."""

import platform
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "portable"
LOADER = Path("/lib64/ld-linux-x86-64.so.2")


def levels():
    """Returns the levels of this processor that a room with levels has, the lowest first."""
    flags = set(Path("/proc/cpuinfo").read_text(encoding="utf-8").split())
    found = ["x86-64"]
    if {"avx2", "fma", "bmi2", "movbe"} <= flags:
        found.append("x86-64-v3")
        if {f"avx512{part}" for part in ("f", "bw", "cd", "dq", "vl")} <= flags:
            found.append("x86-64-v4")
    return found


@unittest.skipUnless(platform.machine() == "x86_64" and LOADER.exists(), "glibc on x86-64")
class Portable(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        for command in (["cmake", "-S", str(SOURCE), "-B", folder.name, "-G", "Ninja"],
                        ["cmake", "--build", folder.name]):
            done = subprocess.run(command, capture_output=True, text=True)
            if done.returncode:
                raise AssertionError(done.stdout + done.stderr)
        cls.program = str(Path(folder.name) / "portable")

    def output(self, *loader):
        return subprocess.run([*loader, self.program], capture_output=True, text=True,
                              check=True).stdout

    def test_the_loader_takes_the_highest_level_of_the_processor(self):
        self.assertEqual(self.output(), f"{levels()[-1]} 2\n")

    def test_without_higher_levels_the_loader_takes_each_lower_one(self):
        for level in levels():
            masked = "x86-64-v2" if level == "x86-64" else level  # there is no library of v2
            self.assertEqual(self.output(str(LOADER), "--glibc-hwcaps-mask", masked),
                             f"{level} 2\n")


if __name__ == "__main__":
    unittest.main()
