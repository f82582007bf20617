"""Opens report.html of runs of two ranks in Chromium, from files: browser_test.py BIN_DIR

Every panel is filled, and the timeline draws what the trace says; trace_test.cpp checks the trace. The exit
code is 77 if Chromium is not installed.
"""

import re
import struct
import sys
import tempfile
import unittest
from pathlib import Path

from runs import STEPS, train

ROOT = Path(__file__).resolve().parents[3]
sys.path += [str(ROOT / "tests/docs"), str(ROOT / "docs/site")]
from browser import Browser, find_browser  # noqa: E402
from run_picture import picture_of  # noqa: E402

PROGRAMS = Path(sys.argv.pop(1))
RANKS = 2
SCREENS = ((1400, "light"), (390, "dark"))
MOST_BYTES, MOST_PICTURE_BYTES = 300_000, 150_000
SKIPPED = 77

# What each section of the page shows: the marks of its charts, the rows of its tables without empty
# cells.
SECTIONS = """Object.fromEntries([...document.querySelectorAll("section")].map((section) => [
    section.querySelector("h2").textContent, {
        charts: [...section.querySelectorAll("svg")].map((svg) => [...svg.querySelectorAll(".fill")]
            .filter((mark) => mark.getBoundingClientRect().width > 0).length),
        rows: [...section.querySelectorAll("tr")].filter((row) => row.querySelector("td") &&
            [...row.children].slice(1).every((cell) => cell.textContent.trim())).length,
    }]))"""

# The marks of the timeline: what the mark says of itself, and where it is drawn.
MARKS = r"""(() => {
    const svg = [...document.querySelectorAll("section")].find(
        (section) => section.querySelector("h2").textContent === "One step").querySelector("svg");
    return [...svg.querySelectorAll(".fill:has(title)")].map((mark) => {
        const box = mark.getBoundingClientRect();
        return {says: mark.querySelector("title").textContent, left: box.left,
                middle: box.left + box.width / 2};
    });
})()"""
SAID = re.compile(r"[^:]+: (?P<launched>at )?(?P<begin>[\d.e+-]+)( to [\d.e+-]+)? ms")


class Report(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        place = tempfile.TemporaryDirectory()
        cls.addClassCleanup(place.cleanup)
        cls.pages = {}
        for sync in ("ddp", "average"):
            folder = Path(place.name) / sync
            train(PROGRAMS, "--sync", sync, "--bucket-cap-mb", "0.05", "--logdir", folder)
            cls.pages[sync] = folder / "report.html"

    def open(self, sync, width=1400, scheme="light"):
        self.browser.show(width, scheme)
        self.browser.open(self.pages[sync].as_uri())

    def marks(self, sync):
        """Returns the time in ms and the pixel of each mark of the timeline."""
        self.open(sync)
        said = [(mark, SAID.match(mark["says"])) for mark in self.browser.run(MARKS)]
        return [(float(match["begin"]), mark["middle" if match["launched"] else "left"])
                for mark, match in said]

    def test_the_page_has_no_fault_light_or_dark(self):
        for sync, page in self.pages.items():
            self.assertLess(page.stat().st_size, MOST_BYTES)
            for width, scheme in SCREENS:
                self.open(sync, width, scheme)
                self.browser.load_checks()
                with self.subTest(sync, width=width, scheme=scheme):
                    self.assertEqual(self.browser.errors + self.browser.faults(), [])

    def test_every_panel_is_filled(self):
        for sync in self.pages:
            self.open(sync)
            found = self.browser.run(SECTIONS)
            with self.subTest(sync):
                curves = found.pop("Loss and accuracy")["charts"]
                self.assertEqual(curves, [STEPS + 1, 1 + 1])  # the last mark is the legend's
                phases, = found.pop("Step time by phase and rank")["charts"]
                self.assertGreaterEqual(phases, RANKS * 3)
                timeline, = found.pop("One step")["charts"]
                self.assertGreaterEqual(timeline, RANKS * 3)
                self.assertEqual(found.pop("Communication hidden under backward")["rows"], RANKS)
                self.assertEqual(found, {})

    def test_marks_are_drawn_at_their_times(self):
        """All marks lie on one line of pixels over time, but for rounding."""
        for sync in self.pages:
            marks = self.marks(sync)
            (first, left), (last, right) = min(marks), max(marks)
            for begin, x in marks:
                with self.subTest(sync, begin=begin):
                    expected = left + (right - left) * (begin - first) / (last - first)
                    self.assertAlmostEqual(x, expected, delta=1.5)

    def test_its_picture_is_small(self):
        png = picture_of(self.browser, self.pages["ddp"])
        width, height = struct.unpack(">2I", png[16:24])
        self.assertGreater(min(width, height), 500)
        self.assertLess(len(png), MOST_PICTURE_BYTES)


if __name__ == "__main__":
    if not find_browser():
        print("skipped: Chromium is not installed; labs/lab setup installs it")
        sys.exit(SKIPPED)
    unittest.main()
