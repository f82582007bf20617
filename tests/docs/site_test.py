"""Builds the site and reads its pages: python3 tests/docs/site_test.py MINI FOLDER

Checks that Doxygen reports no warning, that each lab's page has the lab's code, hints and pictures, and
that no link is broken.
"""

import html
import re
import shutil
import sys
import unittest
from functools import lru_cache
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

import build
import labs

MINI, SITE = (Path(path).resolve() for path in sys.argv[1:])
PAGES = SITE / "html"
OWN = ("index", "labs", "final_project", "architecture", "simulation", "scaling", "cuda_simulator",
       "from_pytorch", "tutorials", "glossary", "measurements", "library", "systems",
       "clusters", "instructors", "interface")


class Reader(HTMLParser):
    """Collects a page's text, links (including pictures), anchors, and classes of folded parts."""

    def __init__(self):
        super().__init__()
        self.text, self.links, self.anchors, self.folded = [], [], set(), []

    def handle_starttag(self, tag, attrs):
        values = dict(attrs)
        self.anchors.update(filter(None, (values.get("id"), values.get("name"))))
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
        cls.catalogue, cls.labs = labs.read_labs(build.ROOT)

    def test_it_builds_without_a_warning(self):
        self.assertEqual(self.exit_code, 0)

    def test_each_lab_page_has_all_of_its_code_and_hints_folded(self):
        for lab in self.labs:
            shown = squeezed("".join(page(f"lab{lab.number}.html").text))
            for region in self.catalogue.regions_of(lab=lab.number):
                with self.subTest(region.place):
                    self.assertIn(squeezed("".join(region.body)), shown)
            folded = page(f"lab{lab.number}.html").folded
            self.assertEqual(folded.count("solution"), len(lab.tasks))
            self.assertEqual(folded.count("hint"), 3 * len(lab.tasks))

    def test_each_row_of_a_task_table_links_to_its_hints(self):
        for lab in self.labs:
            read = page(f"lab{lab.number}.html")
            for task in lab.tasks:
                with self.subTest(task.name):
                    anchor = labs.anchor_of(task)
                    self.assertIn(anchor, read.anchors)
                    self.assertTrue(any(link.endswith("#" + anchor) for link in read.links))

    def test_each_lab_shows_its_pictures(self):
        for lab in self.labs:
            links = page(f"lab{lab.number}.html").links
            for picture in re.findall(r"\]\(([\w.-]+\.svg)\)",
                                      (lab.folder / "README.md").read_text(encoding="utf-8")):
                self.assertIn(f"{lab.folder.name}-{picture}", links)

    def test_our_pages_have_no_broken_link(self):
        names = [f"{name}.html" for name in OWN] + [f"lab{lab.number}.html" for lab in self.labs]
        for name in names:
            for link in set(page(name).links):
                parts = urlsplit(link)
                if parts.scheme:  # to another site
                    continue
                with self.subTest(f"{name}: {link}"):
                    target = unquote(parts.path) or name
                    self.assertTrue((PAGES / target).exists())
                    if parts.fragment and target.endswith(".html"):
                        self.assertIn(parts.fragment, page(target).anchors)


if __name__ == "__main__":
    if not shutil.which("doxygen"):
        print("skipped: doxygen is not installed; labs/lab setup installs it")
        sys.exit(build.SKIPPED)
    unittest.main(argv=sys.argv[:1])
