#!/usr/bin/env python3
"""How near a convolution comes to the peak: runs conv_methods and draws its table.

    labs/05-convnet/measure.py [--program conv_methods] [--bin build/release/bin] [--svg FILE]
"""

import argparse
import os
import re
import subprocess
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import plot  # noqa: E402

PEAK = re.compile(r"^peak of one core: ([\d.]+) GFLOP/s$", re.MULTILINE)
ROW = re.compile(r"^(conv\d) +(\S.*?) +(definition|im2col|direct) +([\d.]+) us +([\d.]+) GFLOP/s",
                 re.MULTILINE)
PASSES = ("forward", "gradient of x", "gradient of w")
COLOURS = {"definition": "#52606d", "im2col": "#1d6fb8", "direct": "#c2410c"}
LEFT, BAR, WIDTH = 200, 15, 780


def speeds_of(output):
    """Returns (peak, {(layer, pass): {method: GFLOP/s}})."""
    speeds = {}
    for layer, what, method, _, speed in ROW.findall(output):
        if what in PASSES:
            speeds.setdefault((layer, what), {})[method] = float(speed)
    return float(PEAK.search(output)[1]), speeds


def chart(peak, speeds):
    """Returns horizontal bars as SVG: a group for each pass, a bar for each method."""
    scale = (WIDTH - LEFT - 150) / peak
    parts, y = [plot.words(22, 24, "Speed of a convolution, one core", "title")], 52
    top = y - 8
    for (layer, what), methods in speeds.items():
        parts.append(plot.words(LEFT - 12, y + 12, f"{layer}, {what}", "", "end"))
        for method, speed in methods.items():
            parts.append(f'<rect x="{LEFT}" y="{y}" width="{speed * scale:.1f}" height="{BAR - 2}" '
                         f'class="dot" fill="{COLOURS[method]}"/>')
            parts.append(plot.words(LEFT + speed * scale + 6, y + 11, f"{method} {speed:.0f}",
                                    "small"))
            y += BAR
        y += 12
    x = LEFT + peak * scale
    parts.append(f'<path d="M{x:.1f} {top}V{y}" class="grid" stroke-dasharray="4 3"/>')
    parts.append(plot.words(x, y + 16, f"peak {peak:.0f} GFLOP/s", "small", "middle"))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {y + 30}" '
            f'width="{WIDTH}" height="{y + 30}" role="img" aria-label="Speed of a convolution, '
            f'by method, beside the peak of one core">\n<style>{plot.STYLE}</style>\n'
            + "\n".join(parts) + "\n</svg>\n")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--program", default="conv_methods")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--svg", default="conv_methods.svg")
    options = parser.parse_args()

    output = subprocess.run([f"{options.bin}/{options.program}"], check=True,
                            stdout=subprocess.PIPE, text=True).stdout
    print(output)
    with open(options.svg, "w", encoding="utf-8") as file:
        file.write(chart(*speeds_of(output)))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()
