"""Checks the checks of checks.js: each finds its fault in a page made up here, and only that fault."""

import tempfile
import unittest
from pathlib import Path

from browser import AXE, OWN_CHECKS, Browser, main

PIXEL = "data:image/gif;base64,R0lGODlhAQABAAAAACH5BAEKAAEALAAAAAABAAEAAAICTAEAOw=="
WHOLE = f"""<h1>Rings</h1><p>Each rank <a href="#end">sends</a>.</p><h2>Costs</h2>
<img src="{PIXEL}" alt="a ring"><label>ranks <input></label><button>Next</button>
<p style="opacity: .9; background: #eee; color: #555">6 messages</p>
<svg viewBox="0 0 90 30" role="img" aria-label="rank 0"><rect width="90" height="30" fill="#123"/>
<text x="20" y="20" fill="#fff">rank 0</text></svg>
<pre style="overflow-x: auto; width: 99%" tabindex="0">{"a long line of code " * 40}</pre>
<details><summary>Hint</summary><p>Send first.</p></details><p id="end">End.</p>"""


def page(body, head="<title>Rings</title>", html='lang="en"'):
    return (f'<!DOCTYPE html><html {html}><head><meta name="viewport" content="width=device-width">'
            f"{head}</head><body><main>{body}</main></body></html>")


class Checks(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)
        folder = tempfile.TemporaryDirectory()
        cls.addClassCleanup(folder.cleanup)
        cls.file = Path(folder.name) / "page.html"

    def faults(self, text, scheme="light"):
        self.file.write_text(text, encoding="utf-8")
        self.browser.show(390, scheme)
        self.browser.open(self.file.as_uri())
        self.browser.load_checks()
        return self.browser.faults(OWN_CHECKS)

    def assert_fault(self, fault, text, **how):
        found = self.faults(text, **how)
        self.assertEqual(len(found), 1, found)
        self.assertIn(fault, found[0])

    def assert_replaced(self, fault, before, after):
        self.assertIn(before, WHOLE)
        self.assert_fault(fault, page(WHOLE.replace(before, after, 1)))

    def test_a_page_without_a_fault_passes(self):
        self.assertEqual(self.faults(page(WHOLE)), [])

    def test_sideways_scrolling(self):
        self.assert_fault("scrolls sideways", page(WHOLE + '<div style="width: 500px">wide</div>'))
        self.assert_replaced("scrolls sideways", '<pre style="overflow-x: auto; width: 99%"', "<pre")

    def test_images(self):
        self.assert_replaced("no alternative text: data:", ' alt="a ring"', "")
        self.assert_replaced("no alternative text: svg", ' role="img" aria-label="rank 0"', "")
        self.assert_replaced("broken image", PIXEL, "data:image/gif;base64,AAAA")

    def test_headings(self):
        self.assert_replaced("0 headings of level 1", "<h1>Rings</h1>", "")
        self.assert_replaced("2 headings of level 1", "<h2>Costs</h2>", "<h1>Costs</h1>")
        self.assert_replaced("a level is left out before h3", "<h2>Costs</h2>", "<h3>Costs</h3>")
        self.assert_fault("html has no lang", page(WHOLE, html=""))
        self.assert_fault("no title", page(WHOLE, head=""))

    def test_names(self):
        self.assert_replaced("no name: input", "<label>ranks <input></label>", "<input>")
        self.assert_replaced("no name: button", "Next", "")
        self.assert_fault("0 main parts", page(WHOLE).replace("main>", "div>"))

    def test_ids(self):
        self.assert_replaced("two elements have the id end", "<h2>", '<h2 id="end">')

    def test_contrast(self):
        self.assert_replaced("contrast 3.", "color: #555", "color: #777")
        self.assert_replaced("contrast", "opacity: .9", "opacity: .6")
        self.assert_replaced("contrast", 'fill="#fff"', 'fill="#456"')
        self.assert_replaced("contrast", "<p>Send first.</p>", '<p style="color: #999">Send first.</p>')

    def test_large_text_needs_less_contrast(self):
        for style, passes in (("", False), ("font-size: 24px", True), ("font-size: 19px", False),
                              ("font-size: 19px; font-weight: bold", True)):
            text = page(WHOLE + f'<p style="color: #888; {style}">large</p>')
            with self.subTest(style):
                self.assertEqual(self.faults(text) == [], passes)

    def test_a_dark_page_is_measured_dark(self):
        dark = "<title>Rings</title><style>:root { color-scheme: light dark }</style>"
        self.assertEqual(self.faults(page("<h1>Rings</h1>", dark), scheme="dark"), [])
        self.assert_fault("contrast", page('<h1 style="color: #333">Rings</h1>', dark), scheme="dark")

    def test_focus(self):
        self.assert_replaced("focus is not visible: button", "<button", '<button style="outline: none"')
        self.assert_replaced("only a mouse reaches #end", '<p id="end"', '<p onclick="f()" id="end"')

    @unittest.skipUnless(AXE.exists(), "axe-core is missing; tests/python_packages.sh installs it")
    def test_rules_of_axe_core(self):
        by_colour = '<a style="color: #555; text-decoration: none"'
        for fault, before, after in (("image-alt", ' alt="a ring"', ""),
                                     ("link-in-text-block", "<a", by_colour)):
            self.faults(page(WHOLE.replace(before, after, 1)))
            self.assertIn(fault, " ".join(self.browser.faults(["wcag"])))
        self.faults(page(WHOLE))
        self.assertEqual(self.browser.faults(["wcag"]), [])

    def test_errors_of_scripts_are_noted(self):
        self.faults(page(WHOLE + "<script>missing.call()</script>"))
        self.assertEqual(len(self.browser.errors), 1)
        self.assertIn("ReferenceError: missing", self.browser.errors[0])
        self.faults(page(WHOLE + "<script>console.error('no data')</script>"))
        self.assertEqual(self.browser.errors, ["no data"])
        self.faults(page(WHOLE + '<script src="missing.js"></script>'))
        self.assertIn("ERR_FILE_NOT_FOUND", self.browser.errors[0])


if __name__ == "__main__":
    main()
