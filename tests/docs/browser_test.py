"""Reads the site in a browser: python3 tests/docs/browser_test.py FOLDER

Our pages are shown wide and narrow, light and dark; the reference pages, which Doxygen makes from
headers, in one of these views. checks.js has the checks. The exit code is 77 if Chromium is not
installed, if the folder holds no site, or if the site was made by a Doxygen newer than 1.9, whose
menus and headers our pages are not made for.
"""

import re
import sys
import unittest
from pathlib import Path

from browser import AXE, SKIPPED, Browser, CommandError, is_broken, main

AT_EACH_WIDTH = ("sideways", "images", "headings", "names", "focus", "contrast", *["wcag"] * AXE.exists())
SITE = Path(sys.argv.pop()).resolve() / "html"
WIDE, NARROW = 1400, 390
VIEWS = ((WIDE, "light"), (WIDE, "dark"), (NARROW, "dark"), (NARROW, "light"))
MAKER = re.compile(r"Doxygen (\d+\.\d+)\.\d+")
MOST_STOPS = 120  # of the Tab key, before the first link of the contents

# Doxygen's names for the pages that it makes from headers, hundreds after a few patterns: the browser
# opens one in 16, and none of the lists of members and the listings of files.
EVERY = 16
REFERENCE = re.compile(r"(class|struct|namespace|dir_|annotated|files)|.*_8hpp")
LISTING = re.compile(r".*(-members|_8hpp_source)\.html$")


class Wait(unittest.TestCase):
    def test_a_document_that_is_being_replaced_is_asked_again(self):
        browser = Browser.__new__(Browser)  # not started
        answers = iter([CommandError("no such context"), None, 7])

        def run(script, frame):
            answer = next(answers)
            if isinstance(answer, CommandError):
                raise answer
            return answer

        browser.run = run
        self.assertEqual(browser.wait_for("ready", frame="results"), 7)


class TheSite(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        pages = sorted(page for page in SITE.glob("*.html") if not LISTING.match(page.name))
        cls.reference = [page for page in pages if REFERENCE.match(page.name)]
        cls.ours = sorted(set(pages) - set(cls.reference))
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def open(self, page, width=WIDE, scheme="light"):
        self.browser.show(width, scheme)
        self.browser.open(page.as_uri())

    def check(self, page, kinds):
        for fault in self.browser.errors + self.browser.faults(kinds):
            with self.subTest(page.name):
                self.fail(fault)
        self.browser.errors = []

    def check_in(self, page, views):
        """Checks a page, and its links, in these views: it is loaded in the first, then resized. At a
        width, all is checked in its first colour scheme, and contrast alone in the second."""
        self.open(page, *views[0])
        self.browser.load_checks()
        self.check_links(page, self.browser.run("checks.links()"))
        before = None
        for width, scheme in views:
            self.browser.show(width, scheme)
            self.check(page, ["contrast"] if width == before else AT_EACH_WIDTH)
            before = width

    def check_links(self, page, links):
        for link in set(links):
            if is_broken(link, page):
                with self.subTest(page.name):
                    self.fail(f"broken link: {link}")

    def test_our_pages_have_no_fault_wide_or_narrow_light_or_dark(self):
        self.assertGreater(len(self.ours), 30)
        for i, page in enumerate(self.ours):  # every second one is loaded narrow, and is then wide and dark
            self.check_in(page, VIEWS[::-1] if i % 2 else VIEWS)

    def test_the_reference_has_no_fault(self):
        self.assertGreater(len(self.reference), 400)
        for i, page in enumerate(self.reference[::EVERY]):
            self.check_in(page, [VIEWS[i % 4]])

    def test_a_deck_has_8_to_14_slides_and_each_fits_on_a_page_of_paper(self):
        decks = sorted(SITE.glob("slides*.html"))
        self.assertGreater(len(decks), 20)
        for deck in decks:
            self.open(deck, 1280)
            self.browser.call("Emulation.setEmulatedMedia", media="print")
            heights = self.browser.run("[...document.querySelectorAll('section')].map((s) => s.scrollHeight)")
            self.browser.call("Emulation.setEmulatedMedia", media="")
            with self.subTest(deck.name):
                self.assertTrue(8 <= len(heights) <= 14 and max(heights) == 720, heights)

    def test_the_tab_key_reaches_the_search_field_and_the_contents(self):
        for width in (WIDE, NARROW):
            self.open(SITE / "index.html", width)
            reached, searched = [], False
            while len(reached) < MOST_STOPS:
                self.browser.press("Tab")
                stop = self.browser.run("""(() => {
                    const it = document.activeElement, box = it.getBoundingClientRect();
                    return {id: it.id, inMain: Boolean(it.closest("[role=main]")),
                            isSeen: box.width > 0 && box.bottom > 0 && box.top < innerHeight};
                })()""")
                reached.append(stop)
                searched = searched or stop["id"] == "MSearchField"
                if stop["inMain"]:
                    break
            with self.subTest(width):
                self.assertTrue(searched)
                self.assertTrue(reached[-1]["inMain"] and reached[-1]["isSeen"])

    def test_the_colour_scheme_changes_by_a_key(self):
        self.open(SITE / "index.html")
        self.browser.run("document.querySelector('doxygen-awesome-dark-mode-toggle').focus()")
        for scheme in ("dark", "light"):
            self.browser.press("Enter")
            self.assertEqual(self.browser.run("getComputedStyle(document.documentElement).colorScheme"),
                             scheme)

    def test_the_search_finds_our_names(self):
        for word in ("all_reduce", "set_epoch", "bucket"):
            self.open(SITE / "index.html")
            self.browser.click("#MSearchField")
            for letter in word:
                self.browser.press(letter)
            # Doxygen 1.9.4 has the results in a frame, 1.9.8 in the page.
            results = self.browser.wait_for(f"""(() => {{
                const shown = [...document.querySelectorAll("#SRResults a")].filter(
                    (link) => link.checkVisibility() && link.getClientRects().length > 0);
                const isDone = shown.some((link) => link.textContent.toLowerCase().includes("{word}"));
                return isDone && shown.map((link) => link.href);
            }})()""", frame="MSearchResults")
            self.check_links(SITE / "index.html", results)


if __name__ == "__main__":
    start = SITE / "index.html"
    maker = start.exists() and MAKER.search(start.read_text(encoding="utf-8"))
    if maker and maker[1] != "1.9":
        print(f"skipped: the look of the site is made for Doxygen 1.9, and {maker[0]} made this one")
        sys.exit(SKIPPED)
    main(SITE)
