"""libmini/distributed uses one clock for time and waits (libmini/distributed/net/clock.hpp).

A deadline from another clock, or a wait that does not use this clock, would ignore the time that a
test or a simulation sets.
"""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
DISTRIBUTED = ROOT / "libmini/distributed"
SYSTEM = DISTRIBUTED / "net/system.cpp"

COMMENT = re.compile(r"//[^\n]*")
DIRECT = re.compile(r"\b(?:steady_clock|high_resolution_clock|this_thread(?!::get_id)|sched_yield|nanosleep|"
                    r"usleep|clock_gettime|ppoll|epoll_wait)\b|(?<!\w)::poll\(|(?<!\w)::select\(|"
                    r"(?:\.|->)wait(?:_for|_until)?\(lock\b")
MAY_USE_THE_SYSTEM = {DISTRIBUTED / "net/clock.hpp", DISTRIBUTED / "net/system.hpp", SYSTEM}


def direct_waits(text):
    return DIRECT.findall(COMMENT.sub("", text))


class Time(unittest.TestCase):
    def test_only_the_system_uses_the_system_clock(self):
        files = [path for path in sorted(DISTRIBUTED.rglob("*"))
                 if path.suffix in {".hpp", ".cpp", ".cu"}]
        self.assertGreater(len(files), 100)
        found = [f"{path.relative_to(ROOT)}: {wait}" for path in files
                 if path not in MAY_USE_THE_SYSTEM
                 for wait in direct_waits(path.read_text(encoding="utf-8"))]
        self.assertEqual(found, [], "use the functions that net/clock.hpp lists")

    def test_the_system_uses_the_system_clock(self):
        self.assertTrue(direct_waits(SYSTEM.read_text(encoding="utf-8")))

    def test_direct_waits_finds_direct_waits_only(self):
        for text in ("std::chrono::steady_clock::now()", "std::this_thread::sleep_for(x)",
                     "::poll(&entry, 1, 0)", "changed_.wait(lock, done)",
                     "changed_.wait_until(lock, deadline)"):
            self.assertTrue(direct_waits(text), text)
        for text in ("Clock::now()", "sleep_for(x)", "store.wait(keys, deadline)", "// ppoll()",
                     "wait_on(changed_, lock, deadline, done)", "void MeshTransport::poll() {"):
            self.assertFalse(direct_waits(text), text)


if __name__ == "__main__":
    unittest.main()
