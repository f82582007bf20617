"""Builds the site and reads its pages: python3 tests/docs/site_test.py MINI FOLDER

Checks that Doxygen reports no warning, that each lab's page has its hints and pictures and no
solution, and that no link is broken.
"""

import html
import re
import shutil
import sys
import unittest
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path

import build
import labs
import translations
from browser import anchors, is_broken
from lab_tool.catalogue import Catalogue

MINI, SITE = (Path(path).resolve() for path in sys.argv[1:])
PAGES = SITE / "html"
LINK = re.compile(r'\b(?:href|src)="([^"]+)"')


class Reader(HTMLParser):
    """Collects a page's text, links (including pictures), and classes of folded parts."""

    def __init__(self):
        super().__init__()
        self.text, self.links, self.folded = [], [], []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        if tag in ("a", "img"):
            self.links += filter(None, (values.get("href"), values.get("src")))
        if tag == "details":
            self.folded.append(values.get("class"))

    def handle_data(self, data):
        self.text.append(data)


@lru_cache(maxsize=None)
def page(name):
    reader = Reader()
    reader.feed((PAGES / name).read_text(encoding="utf-8"))
    return reader


def squeezed(text):
    return re.sub(r"\s+", "", html.unescape(text))


class Site(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.exit_code = build.build(SITE, MINI)
        cls.labs = labs.read_labs(build.ROOT)

    def test_it_builds_without_a_warning(self):
        self.assertEqual(self.exit_code, 0)

    def test_each_lab_page_has_its_hints_folded_and_no_solution(self):
        catalogue = Catalogue()
        for lab in self.labs:
            read = page(f"lab{lab.number}.html")
            self.assertEqual(read.folded.count("hint"), 3 * len(lab.tasks))
            shown = squeezed("".join(read.text))
            for region in catalogue.regions_of(lab=lab.number):
                with self.subTest(region.place):
                    self.assertTrue(len(region.body) < 4 or squeezed("".join(region.body)) not in shown)

    def test_each_row_of_a_task_table_links_to_its_hints(self):
        for lab in self.labs:
            read = page(f"lab{lab.number}.html")
            for task in lab.tasks:
                with self.subTest(task.name):
                    anchor = labs.anchor_of(task)
                    self.assertIn(anchor, anchors(PAGES / f"lab{lab.number}.html"))
                    self.assertTrue(any(link.endswith("#" + anchor) for link in read.links))

    def test_each_lab_shows_its_pictures(self):
        for lab in self.labs:
            for name, path in zip((labs.page_of(lab), labs.further_of(lab)), lab.pages):
                links = page(f"{name}.html").links
                for picture in re.findall(r"\]\(([\w.-]+\.svg)\)", path.read_text(encoding="utf-8")):
                    self.assertIn(f"{lab.folder.name}-{picture}", links)

    def test_the_two_pages_of_a_lab_link_to_each_other(self):
        for lab in self.labs:
            if lab.pages[1:]:
                first, second = f"{labs.page_of(lab)}.html", f"{labs.further_of(lab)}.html"
                self.assertIn(second, page(first).links)
                self.assertIn(first, page(second).links)

    def test_a_page_in_two_languages_has_a_switch_and_chinese_pages_link_to_each_other(self):
        pages = translations.pages_of_site()
        english = {f"{one.original}.html" for one in pages} - {"labs.html"}  # the list of all labs
        for one in pages:
            with self.subTest(one.name):
                name, original = f"{one.name}.html", f"{one.original}.html"
                self.assertIn(name, page(original).links)
                self.assertIn(original, page(name).links)
                self.assertFalse((english - {original}).intersection(page(name).links))
                self.assertTrue('<html lang="zh-Hans"' in (PAGES / name).read_text(encoding="utf-8"))

    def test_no_page_has_a_broken_link(self):
        pages = sorted(PAGES.glob("*.html"))
        self.assertGreater(len(pages), 900)
        for page in (build.ROOT / "docs/pages").glob("*.md"):
            self.assertIn(PAGES / f"{page.stem}.html", pages)
        for page in pages:
            for link in set(LINK.findall(page.read_text(encoding="utf-8"))):
                if is_broken(link, page):
                    with self.subTest(page.name):
                        self.fail(f"broken link: {link}")


if __name__ == "__main__":
    if not shutil.which("doxygen"):
        print("skipped: doxygen is not installed; labs/lab setup installs it")
        sys.exit(build.SKIPPED)
    unittest.main(argv=sys.argv[:1])
