"""With MINI_NATIVE=OFF the dynamic loader takes the level of a room that the processor has."""

import platform
import subprocess
import tempfile
import unittest
from pathlib import Path

SOURCE = Path(__file__).resolve().parent / "portable"
LOADER = Path("/lib64/ld-linux-x86-64.so.2")


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

    def test_the_loader_takes_the_level_of_the_processor(self):
        flags = Path("/proc/cpuinfo").read_text(encoding="utf-8").split()
        level = "x86-64-v3" if {"avx2", "fma", "bmi2", "movbe"} <= set(flags) else "x86-64"
        self.assertEqual(self.output(), f"{level} 2\n")

    def test_without_this_level_the_loader_takes_the_library_for_every_processor(self):
        self.assertEqual(self.output(str(LOADER), "--glibc-hwcaps-mask", "x86-64-v2"),
                         "x86-64 2\n")


if __name__ == "__main__":
    unittest.main()
