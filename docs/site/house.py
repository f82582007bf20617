"""Draws libmini's rooms on floors, from the NEEDS in each room's CMakeLists.txt.

A room is one floor above the highest room that it needs.
"""

import re
from pathlib import Path

ROOM = re.compile(r"mini_room\((\w+)(.*?)\)", re.S)
NEED = re.compile(r"\bmini_(\w+)")
SUBDIRECTORY = re.compile(r"^add_subdirectory\((\S+)\)", re.M)
LINKED = r"(?:target_link_libraries|mini_needs)\(mini_{} ([^)]*)\)"

WHAT = {
    "core": "errors, log, events, threads",
    "program": "command line, progress bar",
    "random": "PyTorch's and Python's draws",
    "fibers": "stacks that take turns",
    "cudasim": "CUDA on the CPU",
    "kernels": "plain functions; CPU and CUDA",
    "fast": "faster kernels for the CPU, a faster all-reduce",
    "tensor": "dtype, shape, strides, device",
    "autograd": "graph, reverse mode, hooks",
    "data": "partitions, samplers, loader",
    "datasets": "MNIST, CIFAR-10, folders",
    "io": "safetensors, checkpoints",
    "net": "sockets, deadlines",
    "store": "keys and values for all ranks",
    "rendezvous": "how ranks find each other",
    "transport": "messages between ranks",
    "simulation": "ranks as fibers, virtual time",
    "flight": "what each rank was doing",
    "collectives": "ring, tree, halving-doubling",
    "group": "ProcessGroup, Work, queue",
    "backends": "ring, threads; the registry",
    "extra_backends": "gloo, mpi, nccl",
    "launchers": "mpirun, srun, files",
    "launch": "init_process_group, spawn",
    "nn": "modules, layers, losses, models",
    "optim": "SGD, Adam, schedulers",
    "parallel": "averaging, buckets, DDP",
    "report": "metrics, traces, the run report",
    "training": "the trainer of train_mnist",
    "scaling": "predicted steps, stragglers",
    "tools": "minirun and mini",
}

WIDTH, ROW, ROOM_W, ROOM_H, LEFT = 900, 96, 186, 56, 76


def rooms_below(folder):
    """Yields (folder, name, needs) of each room, in the order of add_subdirectory."""
    text = re.sub(r"#[^\n]*", "", (folder / "CMakeLists.txt").read_text(encoding="utf-8"))
    found = ROOM.search(text)
    if not found:
        for name in SUBDIRECTORY.findall(text):
            yield from rooms_below(folder / name)
        return
    needs = set(NEED.findall(found[2].partition("NEEDS")[2]))
    inner = [path.read_text(encoding="utf-8") for path in folder.glob("*/CMakeLists.txt")]
    for linked in re.findall(LINKED.format(found[1]), "\n".join([text, *inner])):
        needs.update(NEED.findall(linked))
    yield folder, found[1], needs


def rooms(root):
    """Returns {"tensor": {"kernels", "core"}, ...}, in the order of add_subdirectory."""
    found = {name: needs for _, name, needs in rooms_below(Path(root, "libmini"))}
    return {name: needs & set(found) for name, needs in found.items()}


def floors(needs):
    """Returns {"core": 1, "kernels": 2, ...}. Exits with an error that names the rooms of a circular
    dependency."""
    floor = {}
    while len(floor) < len(needs):
        ready = [room for room in needs if room not in floor and needs[room] <= set(floor)]
        if not ready:
            circle = ", ".join(sorted(set(needs) - set(floor)))
            raise SystemExit(f"these rooms need each other, or a room that does not exist: {circle}")
        floor.update({room: 1 + max((floor[need] for need in needs[room]), default=0)
                      for room in ready})
    return floor


def below(room, needs):
    """Returns all rooms that a room needs, directly or indirectly."""
    near = needs[room]
    return near.union(*(below(need, needs) for need in near))


def direct(room, needs):
    """Returns the rooms that a room needs, except rooms that are also reached through another room."""
    hidden = set().union(*(below(need, needs) for need in needs[room]))
    return sorted(needs[room] - hidden)


def places(floor, needs):
    """Returns {"core": (x, y of its centre), ...}. A room is placed near the rooms that it needs."""
    top = max(floor.values())
    at = {}
    for level in range(1, top + 1):
        row = [room for room in sorted(floor) if floor[room] == level]
        row.sort(key=lambda room: sum(at[need][0] for need in direct(room, needs)) /
                 max(1, len(direct(room, needs))))
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
    at = places(floor, needs)
    height = max(floor.values()) * ROW
    out = [f'<svg class="house" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="The rooms of '
           'libmini, floor by floor, each with arrows to the rooms that it needs">',
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
