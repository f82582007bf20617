"""Line charts as SVG, readable on light and dark pages, for the measurements of the labs.

    plot.write("loss.svg", title="...", x="epoch", y="loss", lines={"alone": [(1, 1.3), (2, 0.3)]})

Each line has its name at its end, so no legend is needed.
"""

import math

WIDTH, HEIGHT = 780, 420
LEFT, RIGHT, TOP, BOTTOM = 66, 262, 52, 52
COLOURS = ("#1d6fb8", "#c2410c", "#0f8a5f", "#8a4fbf", "#a16207", "#be185d", "#52606d",
           "#0e7490")

STYLE = """
  text { font: 13px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2933 }
  .title { font-size: 15px; font-weight: 600 }
  .small { font-size: 12px; fill: #52606d }
  .grid { stroke: #cbd2d9; stroke-width: 1 }
  .line { fill: none; stroke-width: 2.2; stroke-linejoin: round }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb } .small { fill: #9aa5b1 } .grid { stroke: #3e4c59 }
    .line, .dot { filter: brightness(1.45) }
  }
"""


def decades(low, high):
    """Returns ticks that enclose low and high: 1, 2 and 5 times powers of ten, or only the
    powers if there are more than four decades."""
    first, last = math.floor(math.log10(low)), math.ceil(math.log10(high))
    digits = (1, 2, 5) if last - first <= 4 else (1,)
    steps = [digit * 10.0 ** power for power in range(first, last + 1) for digit in digits]
    inside = [step for step in steps if low <= step <= high]
    below = max((step for step in steps if step <= low), default=low)
    above = min((step for step in steps if step >= high), default=high)
    return sorted({below, above, *inside})


def linear(low, high):
    """Returns about six equally spaced ticks that enclose low and high."""
    width = max(high - low, 1e-9) / 6
    unit = 10.0 ** math.floor(math.log10(width))
    step = next(unit * digit for digit in (1, 2, 5, 10) if unit * digit >= width)
    first, last = math.floor(low / step), math.ceil(high / step)
    return [step * k for k in range(first, last + 1)]


class Axis:
    """Maps values to pixels, and has the positions of the ticks."""

    def __init__(self, values, log, start, end):
        low, high = min(values), max(values)
        self.log, self.start, self.end = log, start, end
        self.ticks = decades(low, high) if log else linear(low, high)

    def at(self, value):
        scale = math.log10 if self.log else float
        low, high = scale(self.ticks[0]), scale(self.ticks[-1])
        return self.start + (self.end - self.start) * (scale(value) - low) / (high - low)


def spread(wanted, gap):
    """Returns the heights of labels, moved down so that they are at least `gap` apart;
    moves all labels up if the last label would then be below the chart."""
    order = sorted(range(len(wanted)), key=lambda i: wanted[i])
    placed = list(wanted)
    for before, after in zip(order, order[1:]):
        placed[after] = max(placed[after], placed[before] + gap)
    over = max(0, placed[order[-1]] - (HEIGHT - BOTTOM + 4)) if order else 0
    return [height - over for height in placed]


def words(x, y, text, style="", anchor="start"):
    return f'<text x="{x:.1f}" y="{y:.1f}" class="{style}" text-anchor="{anchor}">{text}</text>'


def bar(x, low, high, colour):
    """Returns a bar at x from the lowest to the highest measured value."""
    return (f'<path d="M{x:.1f} {low:.1f}V{high:.1f}M{x - 4:.1f} {low:.1f}h8M{x - 4:.1f} '
            f'{high:.1f}h8" class="line" stroke="{colour}" stroke-opacity="0.55"/>')


def svg(title, x, y, lines, log_x=False, log_y=False, levels=(), curves=None, spreads=None,
        from_zero=False):
    """Returns the chart as SVG text. `levels`: (name, y) of dashed horizontal lines;
    `curves`: dotted lines of computed values; `spreads`: {line: [(x, lowest, highest)]}
    of measured values."""
    curves, spreads = curves or {}, spreads or {}
    xs = Axis([px for points in lines.values() for px, _ in points], log_x, LEFT, WIDTH - RIGHT)
    heights = [py for points in (*lines.values(), *curves.values()) for _, py in points]
    heights += [py for _, py in levels] + [0.0] * from_zero
    heights += [py for bars in spreads.values() for _, *ends in bars for py in ends]
    ys = Axis(heights, log_y, HEIGHT - BOTTOM, TOP)

    parts = [words(LEFT - 44, 24, title, "title"),
             words((LEFT + WIDTH - RIGHT) / 2, HEIGHT - 14, x, "small", "middle"),
             words(LEFT - 44, TOP - 12, y, "small")]
    for tick in ys.ticks:
        parts.append(f'<path d="M{LEFT} {ys.at(tick):.1f}H{WIDTH - RIGHT}" class="grid"/>')
        parts.append(words(LEFT - 8, ys.at(tick) + 4, f"{tick:g}", "small", "end"))
    for tick in xs.ticks:
        parts.append(words(xs.at(tick), HEIGHT - BOTTOM + 20, f"{tick:g}", "small", "middle"))

    ends = [ys.at(points[-1][1]) for points in (*lines.values(), *curves.values())]
    ends += [ys.at(py) for _, py in levels]
    places = spread(ends, 17)
    for (name, points), colour, place in zip(lines.items(), COLOURS, places):
        path = "L".join(f"{xs.at(px):.1f} {ys.at(py):.1f}" for px, py in points)
        parts.append(f'<path d="M{path}" class="line" stroke="{colour}"/>')
        parts += [f'<circle cx="{xs.at(px):.1f}" cy="{ys.at(py):.1f}" r="3" fill="{colour}" '
                  'class="dot"/>' for px, py in points]
        parts.append(f'<circle cx="{WIDTH - RIGHT + 14}" cy="{place:.1f}" r="4" fill="{colour}" '
                     'class="dot"/>')
        parts.append(words(WIDTH - RIGHT + 24, place + 4, name))
        parts += [bar(xs.at(px), ys.at(low), ys.at(high), colour)
                  for px, low, high in spreads.get(name, ())]
    count = len(lines)
    for (name, points), colour, place in zip(curves.items(), COLOURS[count:], places[count:]):
        path = "L".join(f"{xs.at(px):.1f} {ys.at(py):.1f}" for px, py in points)
        parts.append(f'<path d="M{path}" class="line" stroke="{colour}" '
                     'stroke-dasharray="1.5 5" stroke-linecap="round"/>')
        parts.append(f'<path d="M{WIDTH - RIGHT + 8} {place:.1f}h12" class="line" '
                     f'stroke="{colour}" stroke-dasharray="1.5 5" stroke-linecap="round"/>')
        parts.append(words(WIDTH - RIGHT + 24, place + 4, name))
    count += len(curves)
    for (name, py), colour, place in zip(levels, COLOURS[count:], places[count:]):
        parts.append(f'<path d="M{LEFT} {ys.at(py):.1f}H{WIDTH - RIGHT}" class="line" '
                     f'stroke="{colour}" stroke-dasharray="6 5"/>')
        parts.append(f'<path d="M{WIDTH - RIGHT + 8} {place:.1f}h12" class="line" '
                     f'stroke="{colour}" stroke-dasharray="5 3"/>')
        parts.append(words(WIDTH - RIGHT + 24, place + 4, name))
    return (f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
            f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="{title}">\n'
            f"<style>{STYLE}</style>\n" + "\n".join(parts) + "\n</svg>\n")


def write(path, **chart):
    with open(path, "w", encoding="utf-8") as file:
        file.write(svg(**chart))
