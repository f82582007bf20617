"""The colours of `mini plot`: contrast, and distances for colour-blind readers."""

import itertools
import json
import math
import os
import re
import subprocess
import unittest

MINI = os.path.join(os.environ.get("MINI_BIN_DIR", "build/release/bin"), "mini")


def drawn():
    """Returns the SVG text of a chart."""
    chart = {"type": "line", "title": "T", "x": "X", "y": "Y",
             "series": [{"name": "a", "points": [[1, 1]]}]}
    return subprocess.run([MINI, "plot", "-", "--out", "-"], input=json.dumps(chart), check=True,
                          stdout=subprocess.PIPE, text=True).stdout


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
        style = re.search("<style>(.*?)</style>", drawn(), re.S)[1]
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
