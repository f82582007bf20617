#!/usr/bin/env python3
"""Draws the graph of a computation: runs backward_graph, and Graphviz's dot on its output.

    labs/03-autograd/draw_graph.py warm-up [--bin build/release/bin] [--program backward_graph]
                                           [--svg FILE]

The style sheet is added here, so that the picture is readable on light and dark pages.
"""

import argparse
import re
import subprocess

STYLE = """<style>
  text { font: 14px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2933 }
  .node path { fill: #eef2f6; stroke: #7b8794; stroke-width: 1.3 }
  .leaf path { fill: #1d6fb8; stroke: #1d6fb8 } .leaf text { fill: #fff; font-weight: 600 }
  .shared path { stroke: #c2410c; stroke-width: 2.2 }
  .edge path { stroke: #7b8794; stroke-width: 1.3 } .edge polygon { fill: #7b8794; stroke: #7b8794 }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb } .node path { fill: #2a3440 } .leaf path { fill: #1d6fb8 }
    .shared path { stroke: #f08a4b }
  }
</style>
"""


def styled(svg, label):
    """Returns dot's SVG without its header and its colours, with the style sheet."""
    svg = svg[svg.index("<svg"):]
    svg = re.sub(r"<!--.*?-->\n", "", svg, flags=re.S)
    svg = re.sub(r"<title>.*?</title>\n", "", svg)
    svg = re.sub(r'(?<=["\w]) (?:font-family|font-size)="[^"]*"', "", svg)
    head, body = svg.split(">", 1)
    return f'{head} role="img" aria-label="{label}">\n{STYLE}{body.lstrip()}'


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("computation", nargs="?", default="warm-up")
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--program", default="backward_graph")
    parser.add_argument("--svg", default="graph.svg")
    options = parser.parse_args()

    graph = subprocess.run([f"{options.bin}/{options.program}", options.computation], check=True,
                           stdout=subprocess.PIPE, text=True).stdout
    print(graph)
    svg = subprocess.run(["dot", "-Tsvg"], input=graph, check=True, stdout=subprocess.PIPE,
                         text=True).stdout
    with open(options.svg, "w", encoding="utf-8") as file:
        file.write(styled(svg, f"The autograd graph of the computation {options.computation}"))
    print(f"drawn: {options.svg}")


if __name__ == "__main__":
    main()
