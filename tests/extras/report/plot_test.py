"""`mini plot`: its pictures are strict XML, complete, legible, also for colour-blind readers, and the
same each time; its errors name the file, the key, both values and the next step.

    MINI_BIN_DIR=build/release/bin python3 -m unittest tests/extras/report/plot_test.py
"""

import itertools
import json
import math
import os
import re
import subprocess
import tempfile
import unittest
import xml.etree.ElementTree
from pathlib import Path

MINI = os.path.join(os.environ.get("MINI_BIN_DIR", "build/release/bin"), "mini")
PAGE = Path(__file__).resolve().parents[3] / "docs/pages/plot.md"
SVG = "{http://www.w3.org/2000/svg}"

# The widths of the letters from " " to "~" in DejaVu Sans, the widest font of the charts, in
# thousandths of the font's size: regular, and bold as in a title.
REGULAR = """
    318 401 460 838 636 950 780 275 390 390 500 838 318 361 318 337 636 636 636 636 636 636 636
    636 636 636 337 337 838 838 838 531 1000 684 686 698 770 632 575 775 752 295 295 656 557 863
    748 787 603 787 695 635 611 732 684 989 685 611 685 390 337 390 838 500 500 613 635 550 635
    615 352 635 634 278 278 579 278 974 634 612 635 635 411 521 392 634 592 818 592 592 525 636
    337 636 838"""
BOLD = """
    348 456 521 838 696 1002 872 306 457 457 523 838 380 415 380 365 696 696 696 696 696 696 696
    696 696 696 400 400 838 838 838 580 1000 774 762 734 830 683 683 821 837 372 372 775 637 995
    837 850 733 850 770 720 682 812 774 1103 771 724 725 457 365 457 838 500 500 675 716 593 716
    678 435 716 712 343 343 665 343 1042 712 687 716 716 493 595 478 712 652 924 645 652 582 712
    365 712 838"""
WIDTHS = {"": REGULAR.split(), "title": BOLD.split()}


def run(text, *arguments):
    return subprocess.run([MINI, "plot", *(arguments or ("-", "--out", "-"))], input=text,
                          capture_output=True, text=True)


def drawn(chart):
    """Returns the SVG text of a chart."""
    done = run(json.dumps(chart))
    if done.returncode:
        raise AssertionError(done.stderr)
    return done.stdout


def parse(text):
    return xml.etree.ElementTree.fromstring(text)


def texts(root):
    return [element for element in root.iter(SVG + "text")]


def words(root):
    return [element.text for element in texts(root)]


def box(element):
    """Returns the borders of a text: left, top, right, bottom."""
    style = element.get("class") or ""
    size = 15 if "title" in style else 12 if "small" in style else 13
    widths = WIDTHS["title" if "title" in style else ""]
    width = size / 1000 * sum(
        int(widths[ord(letter) - 32]) if ord(letter) < 127 else 1000 for letter in element.text)
    x, y = float(element.get("x")), float(element.get("y"))
    left = x - {"middle": width / 2, "end": width}.get(element.get("text-anchor"), 0)
    return left, y - 0.75 * size, left + width, y + 0.2 * size


def line(*points, **keys):
    return {"type": "line", "title": "T", "x": "X", "y": "Y",
            "series": [{"name": "a", "points": points}], **keys}


def bars(**keys):
    return {"type": "bar", "title": "T", "axis": "ms", "groups": ["g", "h"],
            "series": [{"name": "a", "values": [1, 2]}, {"name": "b", "values": [3, None]}], **keys}


LONG = "a name of forty-two letters, with a <tag> & \"quotes\""
MANY = [{"name": f"{LONG} {i}", "points": [[0, i], [1, 5], [2, 5]]} for i in range(20)]

CHARTS = {
    "many lines that end at one height": line(series=MANY, x=LONG, y=LONG, title=LONG * 4),
    "many references": line([0, 0], [1, 1], references=[
        {"name": f"reference {i}", "y": i / 30} for i in range(30)]),
    "points only": line(series=[{"name": "a", "points": [[1, 5], [2, 6]], "style": "points"}]),
    "many ticks with long texts": line([0, 0], [99, 1], x={
        "label": "X", "ticks": [[i, f"tick {i} is long"] for i in range(100)]}),
    "bars": bars(),
    "bars with long texts": bars(series=[
        {"name": name, "values": [1, 1], "texts": [LONG, LONG]} for name in ("a", "b")]),
    "bars with long groups": bars(groups=[LONG, LONG * 3]),
    "forty groups": bars(groups=[f"group {i}" for i in range(40)],
                         series=[{"name": "a", "values": list(range(40))}]),
    "stacks": bars(series=[{"name": name, "stack": stack, "values": [1, 2]}
                           for stack in ("DDP", "stage 1") for name in ("p", "g")]),
    "negative bars": bars(series=[{"name": "a", "values": [-1, 2]}]),
    **{f"the page's example {i}": json.loads(text) for i, text in enumerate(
        re.findall(r"```json\n(.*?)```", PAGE.read_text(encoding="utf-8"), re.S))},
}


class Pictures(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.pictures = {name: drawn(chart) for name, chart in CHARTS.items()}

    def test_the_page_has_an_example_of_each_type(self):
        self.assertEqual({chart["type"] for name, chart in CHARTS.items() if "page" in name},
                         {"line", "bar"})

    def test_a_picture_has_a_title_and_a_description_and_nothing_from_outside(self):
        for name, picture in self.pictures.items():
            root = parse(picture)
            self.assertEqual(root.get("role"), "img")
            ids = [element.get("id") for element in root.iter() if element.get("id")]
            self.assertEqual(root.get("aria-labelledby").split(), ids)
            title, description = (next(root.iter(SVG + tag)) for tag in ("title", "desc"))
            self.assertEqual(title.text, CHARTS[name]["title"])
            self.assertTrue(description.text.strip())
            tags = {element.tag.removeprefix(SVG) for element in root.iter()}
            self.assertLessEqual(
                tags, {"svg", "title", "desc", "style", "text", "path", "rect", "g"})
            for element in root.iter():
                for attribute in element.attrib:
                    self.assertNotRegex(attribute, "href|^on")
            self.assertNotIn("url(", next(root.iter(SVG + "style")).text)

    def test_no_text_leaves_the_picture_or_overlaps_another(self):
        for name, picture in self.pictures.items():
            root = parse(picture)
            _, _, width, height = map(float, root.get("viewBox").split())
            boxes = [(box(element), element.text) for element in texts(root)]
            for (left, top, right, bottom), text in boxes:
                self.assertTrue(0 <= left <= right <= width and 0 <= top and bottom <= height,
                                (name, text, left, top, right, bottom))
            for (a, text), (b, other) in itertools.combinations(boxes, 2):
                apart = a[2] <= b[0] or b[2] <= a[0] or a[3] <= b[1] or b[3] <= a[1]
                self.assertTrue(apart, (name, text, a, other, b))

    def test_equal_charts_give_equal_bytes(self):
        for name, picture in self.pictures.items():
            self.assertEqual(drawn(CHARTS[name]), picture)

    def test_all_names_are_in_the_picture_once_and_in_their_order(self):
        root = parse(drawn(line(series=[{"name": name, "points": [[0, 0], [1, y]]}
                                        for name, y in (("low", 1), ("high", 9), ("mid", 5))],
                                references=[{"name": "goal", "y": 7}])))
        self.assertEqual([name for name in words(root) if name in ("low", "mid", "high", "goal")],
                         ["low", "high", "mid", "goal"])
        heights = {element.text: float(element.get("y")) for element in texts(root)}
        self.assertLess(heights["high"], heights["mid"])  # at the heights of the lines' ends
        self.assertLess(heights["mid"], heights["low"])
        found = words(parse(drawn(bars(references=[{"name": "goal", "value": 2}]))))
        self.assertEqual([name for name in found if name in ("a", "b", "goal")], ["a", "b", "goal"])

    def test_text_is_escaped(self):
        root = parse(drawn(line([1, 1], title="<script> & \"x\" \u0001 é 中", y="a<b")))
        self.assertIn("<script> & \"x\"   é 中", words(root))
        self.assertIn("a<b", words(root))

    def test_markers_and_dashes_differ_where_colours_repeat(self):
        root = parse(drawn(line(series=[{"name": str(i), "points": [[0, i], [1, i]]}
                                        for i in range(24)])))
        styles = [path.get("class") for path in root.iter(SVG + "path")
                  if (path.get("class") or "").startswith("line") and "L" in path.get("d")]
        self.assertEqual(sorted(set(styles)), ["line", "line dashes1", "line dashes2"])
        markers = {path.get("d") for path in root.iter(SVG + "path") if path.get("class") == "fill"}
        self.assertEqual(len(markers), 8)


# The colours of a reader without red (protan) or green (deutan) cones: Machado et al. 2009.
VIEWS = {"all cones": ((1, 0, 0), (0, 1, 0), (0, 0, 1)),
         "protan": ((0.152286, 1.052583, -0.204868), (0.114503, 0.786281, 0.099216),
                    (-0.003882, -0.048116, 1.051998)),
         "deutan": ((0.367322, 0.860646, -0.227968), (0.280085, 0.672501, 0.047413),
                    (-0.011820, 0.042940, 0.968881))}


def linear(colour):
    """Returns linear red, green and blue of "#0072b2"."""
    channels = [int(colour[i:i + 2], 16) / 255 for i in (1, 3, 5)]
    return [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels]


def luminance(colour):
    return sum(part * c for part, c in zip((0.2126, 0.7152, 0.0722), linear(colour)))


def contrast(a, b):
    low, high = sorted((luminance(a), luminance(b)))
    return (high + 0.05) / (low + 0.05)


def lab(colour, view):
    """Returns CIE L*, a*, b* of what a reader sees."""
    rgb = [min(1, max(0, sum(m * c for m, c in zip(row, linear(colour))))) for row in VIEWS[view]]
    xyz = [sum(part * c for part, c in zip(row, rgb)) / white for row, white in (
        ((0.4124, 0.3576, 0.1805), 0.9505), ((0.2126, 0.7152, 0.0722), 1),
        ((0.0193, 0.1192, 0.9505), 1.089))]
    x, y, z = (v ** (1 / 3) if v > 0.008856 else 7.787 * v + 16 / 116 for v in xyz)
    return 116 * y - 16, 500 * (x - y), 200 * (y - z)


class Colours(unittest.TestCase):
    def palettes(self):
        style = re.search("<style>(.*?)</style>", drawn(line([1, 1])), re.S)[1]
        light, dark = style.split("@media (prefers-color-scheme: dark)")
        for text, page in ((light, "#ffffff"), (dark, "#161b22")):
            found = re.findall(r"\.c\d \{ color: (#\w+) \}", text)
            self.assertEqual(len(found), 8)
            yield page, found

    def test_colours_have_contrast_to_the_page(self):
        for page, found in self.palettes():
            for colour in found:
                self.assertGreater(contrast(colour, page), 3, (colour, page))  # WCAG 1.4.11

    def test_any_two_colours_differ_for_colour_blind_readers_too(self):
        for page, found in self.palettes():
            for a, b in itertools.combinations(found, 2):
                for view in VIEWS:
                    self.assertGreater(math.dist(lab(a, view), lab(b, view)), 15, (view, a, b))


class Axes(unittest.TestCase):
    def ticks(self, *points, **keys):
        """Returns the texts of the ticks of y, from the bottom."""
        root = parse(drawn(line(*points, **keys)))
        return [text.text for text in texts(root) if text.get("text-anchor") == "end"]

    def test_ticks_are_round_numbers_around_the_values(self):
        log = {"label": "Y", "log": True}
        for values, keys, wanted in (
                ((5,), {}, ["4.4", "4.6", "4.8", "5", "5.2", "5.4", "5.6"]),
                ((0, 12), {}, ["0", "2", "4", "6", "8", "10", "12"]),
                ((-3, 3), {}, ["-3", "-2", "-1", "0", "1", "2", "3"]),
                ((-0.004, -0.001), {}, ["-0.004", "-0.0035", "-0.003", "-0.0025", "-0.002",
                                        "-0.0015", "-0.001"]),
                ((0, 50000), {}, ["0", "10,000", "20,000", "30,000", "40,000", "50,000"]),
                ((1e6, 1e6 + 1), {}, ["1,000,000", "1,000,000.2", "1,000,000.4",
                                              "1,000,000.6", "1,000,000.8", "1,000,001"]),
                ((7, 7), {}, None), ((0, 0), {}, None), ((-7, -7), {}, None), ((1, 1 + 1e-15), {}, None),
                ((1e-310, 1e-310), {}, None), ((1e300, -1e300), {}, None),
                ((1e-300, 2e-300), {}, None), ((1e17, 1e17 + 16), {}, None),
                ((50, 60), {"y": {"label": "Y", "from_zero": True}}, "0 10 20 30 40 50 60".split()),
                ((1, 1000), {"y": log}, "1 2 5 10 20 50 100 200 500 1,000".split()),
                ((1, 100), {"y": {**log, "from_zero": True}}, "1 2 5 10 20 50 100".split()),
                ((1, 1e6), {"y": log}, "1 10 100 1,000 10,000 100,000 1e6".split()),
                ((1e-9, 1e6), {"y": log}, None), ((5, 5), {"y": log}, ["5", "10"]),
                ((1e-290, 1e290), {"y": log}, None)):
            with self.subTest((values, keys)):
                found = self.ticks(*([k, value] for k, value in enumerate(values)), **keys)
                if wanted:
                    self.assertEqual(found, wanted)
                self.assertGreaterEqual(len(found), 2)
                self.assertLessEqual(len(found), 14)
                self.assertEqual(len(set(found)), len(found), found)
                numbers = [float(text.replace(",", "")) for text in found]
                self.assertEqual(numbers, sorted(numbers))
                self.assertLessEqual(numbers[0], min(values))
                self.assertGreaterEqual(numbers[-1], max(values))

    def test_whole_numbers_have_whole_ticks_on_x(self):
        found = words(parse(drawn(line([1, 0.5], [3, 0.7]))))
        self.assertFalse({"1.5", "2.5"} & set(found))
        self.assertIn("1.5", words(parse(drawn(line([1, 0.5], [2.9, 0.7])))))

    def test_ticks_may_be_named(self):
        found = words(parse(drawn(line([1, 1], [65536, 2], x={
            "label": "X", "ticks": [[1, "one"], 65536, 1e6]}))))
        for text in ("one", "65,536", "1e6"):
            self.assertIn(text, found)


class Errors(unittest.TestCase):
    def fails(self, chart, *parts):
        text = chart if isinstance(chart, str) else json.dumps(chart)
        done = run(text)
        self.assertEqual((done.returncode, done.stdout), (1, ""), done.stderr)
        self.assertEqual(done.stderr.count("\n"), 1)
        for part in ("mini: stdin: ", *parts):
            self.assertIn(part, done.stderr)

    def test_a_value_of_the_wrong_type_is_an_error(self):
        self.fails(line([1, "2"]), "must be number, but is string")
        self.fails(line([1]), "a point is [1], but must be [x, y]")
        self.fails(line([1, 1], title=5), "must be string, but is number")
        self.fails(line([1, 1], type="pie"), "the type is pie, but must be line or bar")
        self.fails("[1]", "the chart must be an object")

    def test_a_missing_key_is_named(self):
        for key in ("type", "title", "x", "y", "series"):
            chart = line([1, 1])
            del chart[key]
            self.fails(chart, f"key '{key}' not found; docs/pages/plot.md has the keys")

    def test_an_unknown_key_comes_with_the_known_ones(self):
        self.fails(line([1, 1], seris=[]),
                   "the chart has the unknown key seris; its keys are type, title, ")
        self.fails(line(series=[{"name": "a", "points": [], "colour": 1}]),
                   "a series has the unknown key colour")

    def test_numbers_that_cannot_be_drawn_are_named(self):
        log = {"label": "Y", "log": True}
        self.fails(line([1, 0], y=log), "a value of \"Y\" is 0", "make the axis linear")
        self.fails(line([-2, 1], x=log), "a value of \"Y\" is -2")
        self.fails(line([1, 1e301]), "1e+301", "1e+300")
        self.fails(line([1, 1], y=log, references=[{"name": "r", "y": 0}]), "\"Y\" is 0")
        self.fails(bars(axis=log), "bars begin at 0", "make the axis linear")
        self.fails(line(), "has 1 series and no point: give it a point")
        self.fails(bars(series=[]), "has no value: give it a value")
        self.fails(bars(series=[{"name": "a", "values": [1]}]), "1 values and 0 texts for 2 groups")

    def test_what_is_not_json_is_named_with_its_line(self):
        self.fails("{\"type\":\n", "parse error at line 2, column 1")
        self.fails("", "parse error at line 1")
        self.fails("{\"x\": 1e999}", "number overflow parsing '1e999'")
        self.fails("[" * 100000, "parse error")

    def test_files_are_named_and_none_is_left_after_an_error(self):
        with tempfile.TemporaryDirectory() as folder:
            spec, out = os.path.join(folder, "spec.json"), os.path.join(folder, "out.svg")
            missing = run("", spec, "--out", out)
            self.assertEqual(missing.returncode, 1)
            self.assertIn(f"mini: {spec}: open failed: No such file", missing.stderr)
            Path(spec).write_text(json.dumps(line([1, 0], y={"label": "Y", "log": True})))
            self.assertIn(f"mini: {spec}: chart: ", run("", spec, "--out", out).stderr)
            self.assertEqual(os.listdir(folder), ["spec.json"])
            Path(spec).write_text(json.dumps(line([1, 1])))
            absent = os.path.join(folder, "no/out.svg")
            self.assertIn(absent, run("", spec, "--out", absent).stderr)
            self.assertEqual(run("", spec, "--out", out).returncode, 0)
            self.assertEqual(Path(out).read_text(), drawn(line([1, 1])))
        self.assertEqual(run("", "a.json").returncode, 2)  # without --out
