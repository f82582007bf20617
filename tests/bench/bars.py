"""Charts of horizontal bars as SVG, in the style of labs/plot.py: for each case of a section one bar
per peer, the ratio of the peer's figure to libmini's, on a logarithmic axis that begins at 1.

A thin line in a bar's end spans from the lowest to the highest round.
"""

import math
from xml.sax.saxutils import escape

import plot

from bench.sections import OURS

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 780, 250, 84, 72, 44
BAR, GAP = 16, 14  # height of a bar, distance of two cases


class RatioAxis:
    """Maps ratios to pixels, logarithmically; it has ticks at 1, 2, 5 and powers of ten."""

    def __init__(self, ratios):
        self.ticks = plot.decades(min(1.0, *ratios), max(2.0, *ratios))

    def at(self, ratio):
        low, high = math.log(self.ticks[0]), math.log(self.ticks[-1])
        return LEFT + (WIDTH - RIGHT - LEFT) * (math.log(ratio) - low) / (high - low)


def words(x, y, text, style="", anchor="start"):
    return plot.words(x, y, escape(text), style, anchor)


def times(ratio):
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def bar(axis, y, ratio, colour):
    """Returns a bar from 1 to the median, the line of its spread, and its number."""
    ends = sorted((axis.at(1), axis.at(ratio["median"])))
    middle = y + BAR / 2
    low, high = axis.at(ratio["low"]), axis.at(ratio["high"])
    return [
        f'<rect x="{ends[0]:.1f}" y="{y:.1f}" width="{max(1, ends[1] - ends[0]):.1f}" '
        f'height="{BAR - 3}" rx="2" fill="{colour}" class="dot"/>',
        f'<path d="M{low:.1f} {middle - 1.5:.1f}H{high:.1f}" class="spread"/>',
        words(max(ends[1], high) + 6, middle + 3, times(ratio["median"]), "small"),
    ]


def legend(series, colours):
    parts, x = [], 22
    for name in series:
        parts.append(f'<rect x="{x}" y="{TOP - 34}" width="11" height="11" rx="2" '
                     f'fill="{colours[name]}" class="dot"/>')
        parts.append(words(x + 16, TOP - 24, name, "small"))
        x += 34 + 7 * len(name)
    return parts


def svg(title, groups):
    """Returns the chart. `groups`: [(case, {series: {"median", "low", "high"}})]."""
    series = list(dict.fromkeys(name for _, bars in groups for name in bars))
    colours = dict(zip(series, plot.COLOURS * 2))
    ratios = [ratio[key] for _, bars in groups for ratio in bars.values()
              for key in ("low", "high")]
    axis = RatioAxis(ratios)

    y, rows = TOP, []
    for case, bars in groups:
        rows.append(words(LEFT - 12, y + BAR * len(bars) / 2 + 3, case, "", "end"))
        for name, ratio in bars.items():
            rows += bar(axis, y, ratio, colours[name])
            y += BAR
        y += GAP
    bottom = y - GAP + 8
    grid = []
    for tick in axis.ticks:
        style = "one" if tick == 1 else "grid"
        grid.append(f'<path d="M{axis.at(tick):.1f} {TOP - 8}V{bottom:.1f}" class="{style}"/>')
        grid.append(words(axis.at(tick), bottom + 16, f"{tick:g}", "small", "middle"))
    height = round(bottom + BOTTOM)
    style = plot.STYLE + ("  .one { stroke: #52606d; stroke-width: 1.6 }\n"
                          "  .spread { stroke: #1f2933; stroke-width: 1.4; stroke-opacity: 0.7 }\n"
                          "  @media (prefers-color-scheme: dark) {\n"
                          "    .one { stroke: #9aa5b1 } .spread { stroke: #e4e7eb }\n  }\n")
    parts = [words(22, 24, title, "title"), *legend(series, colours), *grid, *rows,
             words((LEFT + WIDTH - RIGHT) / 2, height - 8,
                   "how many times as much as libmini", "small", "middle")]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">\n'
            f"<style>{style}</style>\n" + "\n".join(parts) + "\n</svg>\n")


def groups_of(results):
    """Returns the bars of the cases of one section: the ratios to libmini, not those to a limit or to
    a step without communication. If libmini has several figures (shared memory, TCP), a bar is named
    by its ratio."""
    wanted = {result["case"]: [ratio for ratio in result["ratios"] if ratio["to"] in OURS]
              for result in results}
    several = len({ratio["to"] for ratios in wanted.values() for ratio in ratios}) > 1
    return [(case, {f"{ratio['of']} / {ratio['to']}" if several else ratio["of"]: ratio
                    for ratio in ratios})
            for case, ratios in wanted.items() if ratios]
