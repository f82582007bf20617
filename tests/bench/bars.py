"""Charts of horizontal bars as SVG, in the style of labs/plot.py.

    ratios     for each case of a section one bar per peer: the peer's figure divided by libmini's,
               on a logarithmic axis; a thin line spans from the lowest to the highest round
    profile    for each part of a step the time of its forward and its backward pass, and its floor
"""

import math
from xml.sax.saxutils import escape

import plot

from bench.sections import OURS

WIDTH, LEFT, RIGHT, TOP, BOTTOM = 780, 250, 84, 72, 44
BAR, GAP = 16, 14  # height of a bar, distance of two cases


STYLE = plot.STYLE + """  .base { stroke: #52606d; stroke-width: 1.6 }
  .spread { stroke: #1f2933; stroke-width: 1.4; stroke-opacity: 0.7 }
  .floor { stroke: #1f2933; stroke-width: 2.4 }
  @media (prefers-color-scheme: dark) {
    .base { stroke: #9aa5b1 } .spread, .floor { stroke: #e4e7eb }
  }
"""


class RatioAxis:
    """Maps ratios to pixels, logarithmically; it has ticks at 1, 2, 5 and powers of ten."""

    base = 1.0  # where bars begin

    def __init__(self, ratios):
        self.ticks = plot.decades(min(1.0, *ratios), max(2.0, *ratios))

    def at(self, ratio):
        low, high = math.log(self.ticks[0]), math.log(self.ticks[-1])
        return LEFT + (WIDTH - RIGHT - LEFT) * (math.log(ratio) - low) / (high - low)


class TimeAxis:
    """Maps times to pixels, from 0."""

    base = 0.0

    def __init__(self, highest):
        self.ticks = plot.linear(0.0, highest)

    def at(self, value):
        return LEFT + (WIDTH - RIGHT - LEFT) * value / self.ticks[-1]


def words(x, y, text, style="", anchor="start"):
    return plot.words(x, y, escape(text), style, anchor)


def times(ratio):
    return f"{ratio:.2f}" if ratio < 10 else f"{ratio:.0f}"


def rectangle(begin, end, y, colour):
    return (f'<rect x="{begin:.1f}" y="{y:.1f}" width="{max(1, end - begin):.1f}" '
            f'height="{BAR - 3}" rx="2" fill="{colour}" class="dot"/>')


def ratio_bar(axis, y, ratio, colour):
    """Returns a bar from 1 to the median, the line of its spread, and its number."""
    begin, end = sorted((axis.at(1), axis.at(ratio["median"])))
    middle = y + BAR / 2
    low, high = axis.at(ratio["low"]), axis.at(ratio["high"])
    return [rectangle(begin, end, y, colour),
            f'<path d="M{low:.1f} {middle - 1.5:.1f}H{high:.1f}" class="spread"/>',
            words(max(end, high) + 6, middle + 3, times(ratio["median"]), "small")]


def legend(colours):
    """Returns the names with their colours, in as many rows as they need."""
    parts, x, y = [], 22, TOP - 34
    for name, colour in colours.items():
        width = 34 + 6.6 * len(name)
        if x + width > WIDTH:
            x, y = 22, y + 17
        parts.append(f'<rect x="{x:.0f}" y="{y}" width="11" height="11" rx="2" fill="{colour}" '
                     'class="dot"/>')
        parts.append(words(x + 16, y + 10, name, "small"))
        x += width
    return parts


def frame(title, colours, axis, rows, bottom, caption):
    """Returns the whole chart around the rows, which end at `bottom`."""
    grid = []
    for tick in axis.ticks:
        style = "base" if tick == axis.base else "grid"
        grid.append(f'<path d="M{axis.at(tick):.1f} {TOP - 8}V{bottom:.1f}" class="{style}"/>')
        grid.append(words(axis.at(tick), bottom + 16, f"{tick:g}", "small", "middle"))
    height = round(bottom + BOTTOM)
    parts = [words(22, 24, title, "title"), *legend(colours), *grid, *rows,
             words((LEFT + WIDTH - RIGHT) / 2, height - 8, caption, "small", "middle")]
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" '
            f'width="{WIDTH}" height="{height}" role="img" aria-label="{escape(title)}">\n'
            f"<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n")


def ratios_svg(title, groups):
    """Returns the chart of a section. `groups`: [(case, {series: {"median", "low", "high"}})]."""
    series = dict.fromkeys(name for _, bars in groups for name in bars)
    colours = dict(zip(series, plot.COLOURS * 2))
    axis = RatioAxis([ratio[key] for _, bars in groups for ratio in bars.values()
                      for key in ("low", "high")])
    y, rows = TOP, []
    for case, bars in groups:
        rows.append(words(LEFT - 12, y + BAR * len(bars) / 2 + 3, case, "", "end"))
        for name, ratio in bars.items():
            rows += ratio_bar(axis, y, ratio, colours[name])
            y += BAR
        y += GAP
    return frame(title, colours, axis, rows, y - GAP + 8, "how many times as much as libmini")


def profile_svg(title, profile):
    """Returns the chart of a profile: a bar per part, and a mark at the part's floor."""
    colours = {"forward, or no direction": plot.COLOURS[0], "backward": plot.COLOURS[1]}
    axis = TimeAxis(max(part[key] for part in profile["rows"] for key in ("us", "floor_us")))
    y, rows = TOP, []
    for part in profile["rows"]:
        forward, end, floor = (axis.at(part[key]) for key in ("forward_us", "us", "floor_us"))
        rows += [words(LEFT - 12, y + BAR - 5, part["part"], "", "end"),
                 rectangle(LEFT, forward, y, plot.COLOURS[0])]
        if part["backward_us"]:
            rows.append(rectangle(forward, end, y, plot.COLOURS[1]))
        rows += [f'<path d="M{floor:.1f} {y - 2:.1f}V{y + BAR - 1:.1f}" class="floor"/>',
                 words(max(end, floor) + 6, y + BAR - 5, f"{part['us']:.0f}", "small")]
        y += BAR + 4
    return frame(title, colours, axis, rows, y + 4,
                 "microseconds; the vertical mark is the floor of arithmetic and bytes")


def groups_of(results):
    """Returns the bars of the cases of one section: the ratios to libmini, not those to a limit or to
    a step without communication. If libmini has several figures (shared memory, TCP), a bar is named
    by its ratio."""
    wanted = {}
    for result in results:
        name = result["case"] if result["valid"] else f"{result['case']} (not valid)"
        wanted[name] = [ratio for ratio in result["ratios"] if ratio["to"] in OURS]
    several = len({ratio["to"] for ratios in wanted.values() for ratio in ratios}) > 1
    return [(case, {f"{ratio['of']} / {ratio['to']}" if several else ratio["of"]: ratio
                    for ratio in ratios})
            for case, ratios in wanted.items() if ratios]
