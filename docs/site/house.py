"""The house: libmini's rooms, floor by floor, drawn from what their CMakeLists.txt say they need.

A room stands one floor above the highest room that it needs.
"""

import re
from pathlib import Path

ROOM = re.compile(r"mini_room\((\w+)(.*?)\)", re.DOTALL)
NEED = re.compile(r"\bmini_(\w+)")

WHAT = {
    "core": "errors, generators, log, events",
    "kernels": "plain functions; CPU and CUDA",
    "tensor": "dtype, shape, strides, device",
    "autograd": "graph, reverse mode, hooks",
    "data": "partitions, samplers, loader",
    "dist": "rendezvous, collectives",
    "io": "safetensors, checkpoints",
    "nn": "modules, layers, losses, models",
    "optim": "SGD, Adam, schedulers",
    "parallel": "averaging, buckets, DDP",
    "tools": "minirun and mini",
}

WIDTH, ROW, ROOM_W, ROOM_H, LEFT = 900, 104, 196, 58, 76


def rooms(root):
    """{"tensor": {"kernels", "core"}, ...}"""
    needs = {}
    for path in sorted(Path(root, "libmini").glob("*/CMakeLists.txt")):
        found = ROOM.search(path.read_text(encoding="utf-8"))
        if found:
            _, _, named = found[2].partition("NEEDS")
            needs[found[1]] = set(NEED.findall(named))
    return needs


def floors(needs):
    """{"core": 1, "kernels": 2, ...}; an error names rooms that need each other in a circle."""
    floor = {}
    while len(floor) < len(needs):
        ready = [room for room in needs if room not in floor and needs[room] <= set(floor)]
        if not ready:
            circle = ", ".join(sorted(set(needs) - set(floor)))
            raise SystemExit(f"these rooms need each other, or one that is not there: {circle}")
        floor.update({room: 1 + max((floor[need] for need in needs[room]), default=0)
                      for room in ready})
    return floor


def below(room, needs):
    """All rooms that a room stands on, near and far."""
    near = needs[room]
    return near.union(*(below(need, needs) for need in near))


def direct(room, needs):
    """The rooms that it needs and that none of its other rooms stands on already."""
    hidden = set().union(*(below(need, needs) for need in needs[room]))
    return sorted(needs[room] - hidden)


def places(floor):
    """{"core": (x, y of the middle), ...}"""
    top = max(floor.values())
    at = {}
    for level in range(1, top + 1):
        row = sorted(room for room in floor if floor[room] == level)
        step = (WIDTH - LEFT) / len(row)
        for i, room in enumerate(row):
            at[room] = (LEFT + step * (i + 0.5), (top - level) * ROW + ROW / 2)
    return at


def arrow(start, end):
    (x1, y1), (x2, y2) = start, end
    y1, y2 = y1 + ROOM_H / 2, y2 - ROOM_H / 2 - 7
    bend = (y2 - y1) * 0.5
    return (f'<path class="needs" d="M{x1:.0f} {y1:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} '
            f'{y2 - bend:.0f} {x2:.0f} {y2:.0f}" marker-end="url(#tip)"/>')


def drawing(root):
    needs = rooms(root)
    floor = floors(needs)
    at = places(floor)
    height = max(floor.values()) * ROW
    out = [f'<svg class="house" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="The rooms of '
           'libmini, floor by floor, each with arrows to the rooms it stands on">',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="7" '
           'markerHeight="7" orient="auto"><path class="tip" d="M0 0 L8 4 L0 8 Z"/></marker></defs>']
    for level in range(1, max(floor.values()) + 1):
        y = height - level * ROW
        out.append(f'<rect class="floor{level % 2}" x="0" y="{y}" width="{WIDTH}" height="{ROW}"/>'
                   f'<text class="level" x="16" y="{y + ROW / 2 + 4:.0f}">floor {level}</text>')
    out += [arrow(at[room], at[need]) for room in sorted(needs) for need in direct(room, needs)]
    for room, (x, y) in at.items():
        out.append(f'<g><rect class="room" x="{x - ROOM_W / 2:.0f}" y="{y - ROOM_H / 2:.0f}" '
                   f'width="{ROOM_W}" height="{ROOM_H}" rx="8"/>'
                   f'<text class="name" x="{x:.0f}" y="{y - 3:.0f}">{room}</text>'
                   f'<text class="what" x="{x:.0f}" y="{y + 16:.0f}">{WHAT.get(room, "")}</text></g>')
    return "\n".join([*out, "</svg>"])


def page_part(root):
    return f'\\htmlonly[block]\n<div class="wide">{drawing(root)}</div>\n\\endhtmlonly'
