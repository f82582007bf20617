"""The distributed half asks one clock, and waits by it (libmini/distributed/net/clock.hpp).

A deadline that is read from another clock, or a wait that asks none, would not take part when a
test or a simulation moves the time.
"""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
HALF = ROOT / "libmini/distributed"
MACHINE = HALF / "net/time_source.cpp"

COMMENT = re.compile(r"//[^\n]*")
DIRECT = re.compile(r"\b(?:steady_clock|high_resolution_clock|this_thread|sched_yield|nanosleep|"
                    r"usleep|clock_gettime|ppoll|epoll_wait)\b|(?<!\w)::poll\(|(?<!\w)::select\(|"
                    r"(?:\.|->)wait(?:_for|_until)?\(lock\b")
NAMES_THE_MACHINE = {HALF / "net/clock.hpp", HALF / "net/time_source.hpp", MACHINE}


def direct_waits(text):
    return DIRECT.findall(COMMENT.sub("", text))


class Time(unittest.TestCase):
    def test_only_the_clock_asks_the_machine(self):
        files = [path for path in sorted(HALF.rglob("*")) if path.suffix in {".hpp", ".cpp", ".cu"}]
        self.assertGreater(len(files), 100)
        found = [f"{path.relative_to(ROOT)}: {wait}" for path in files
                 if path not in NAMES_THE_MACHINE
                 for wait in direct_waits(path.read_text(encoding="utf-8"))]
        self.assertEqual(found, [], "write what net/clock.hpp lists instead")

    def test_the_machine_is_asked_somewhere(self):
        self.assertTrue(direct_waits(MACHINE.read_text(encoding="utf-8")))

    def test_what_counts_as_a_direct_wait(self):
        for text in ("std::chrono::steady_clock::now()", "std::this_thread::sleep_for(x)",
                     "::poll(&entry, 1, 0)", "changed_.wait(lock, done)",
                     "changed_.wait_until(lock, deadline)"):
            self.assertTrue(direct_waits(text), text)
        for text in ("Clock::now()", "sleep_for(x)", "store.wait(keys, deadline)", "// ppoll()",
                     "wait_on(changed_, lock, deadline, done)", "void MeshTransport::poll() {"):
            self.assertFalse(direct_waits(text), text)


if __name__ == "__main__":
    unittest.main()
