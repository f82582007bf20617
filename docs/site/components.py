"""Draws libmini's components in layers, from the NEEDS in each component's CMakeLists.txt.

A component is one layer above the highest component that it needs.
"""

import re
from pathlib import Path

COMPONENT = re.compile(r"mini_component\((\w+)(.*?)\)", re.S)
NEED = re.compile(r"\bmini_(\w+)")
SUBDIRECTORY = re.compile(r"^add_subdirectory\((\S+)\)", re.M)
LINKED = r"(?:target_link_libraries|mini_needs)\(mini_{} ([^)]*)\)"

WHAT = {
    "core": "errors, log, events, threads",
    "program": "command line, progress bar",
    "random": "PyTorch's and Python's draws",
    "fibers": "stacks that take turns",
    "cudasim": "CUDA on the CPU",
    "cudasim_driver": "mini cuda",
    "kernels": "plain functions; CPU and CUDA",
    "fast": "faster kernels for the CPU, a faster all-reduce",
    "tensor": "dtype, shape, strides, device",
    "autograd": "graph, reverse mode, hooks",
    "composed": "cat, stack, softmax of any dimension",
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
    "vision": "transforms, ResNets",
    "optim": "SGD, Adam, schedulers",
    "parallel": "averaging, buckets, DDP",
    "report": "metrics, traces, the run report",
    "training": "the trainer of train_mnist",
    "tools": "minirun and mini",
}

WIDTH, ROW, COMPONENT_W, COMPONENT_H, LEFT = 900, 96, 186, 56, 76


def components_below(folder):
    """Yields (folder, name, needs) of each component, in the order of add_subdirectory."""
    text = re.sub(r"#[^\n]*", "", (folder / "CMakeLists.txt").read_text(encoding="utf-8"))
    found = COMPONENT.search(text)
    if not found:
        for name in SUBDIRECTORY.findall(text):
            yield from components_below(folder / name)
        return
    needs = set(NEED.findall(found[2].partition("NEEDS")[2]))
    inner = [path.read_text(encoding="utf-8") for path in folder.glob("*/CMakeLists.txt")]
    for linked in re.findall(LINKED.format(found[1]), "\n".join([text, *inner])):
        needs.update(NEED.findall(linked))
    yield folder, found[1], needs


def components(root):
    """Returns {"tensor": {"kernels", "core"}, ...}, in the order of add_subdirectory."""
    found = {name: needs for _, name, needs in components_below(Path(root, "libmini"))}
    return {name: needs & set(found) for name, needs in found.items()}


def layers(needs):
    """Returns {"core": 1, "kernels": 2, ...}. Exits with an error that names the components of a
    circular dependency."""
    layer = {}
    while len(layer) < len(needs):
        ready = [name for name in needs if name not in layer and needs[name] <= set(layer)]
        if not ready:
            circle = ", ".join(sorted(set(needs) - set(layer)))
            raise SystemExit("these components need each other, or a component that does not exist: "
                             + circle)
        layer.update({name: 1 + max((layer[need] for need in needs[name]), default=0)
                      for name in ready})
    return layer


def below(component, needs):
    """Returns all components that a component needs, directly or indirectly."""
    near = needs[component]
    return near.union(*(below(need, needs) for need in near))


def direct(component, needs):
    """Returns the components that a component needs, except those that it also reaches through another."""
    hidden = set().union(*(below(need, needs) for need in needs[component]))
    return sorted(needs[component] - hidden)


def places(layer, needs):
    """Returns {"core": (x, y of its centre), ...}. A component is placed near the components that it needs."""
    top = max(layer.values())
    at = {}
    for level in range(1, top + 1):
        row = [component for component in sorted(layer) if layer[component] == level]
        row.sort(key=lambda component: sum(at[need][0] for need in direct(component, needs)) /
                 max(1, len(direct(component, needs))))
        step = (WIDTH - LEFT) / len(row)
        for i, component in enumerate(row):
            at[component] = (LEFT + step * (i + 0.5), (top - level) * ROW + ROW / 2)
    return at


def arrow(start, end):
    (x1, y1), (x2, y2) = start, end
    y1, y2 = y1 + COMPONENT_H / 2, y2 - COMPONENT_H / 2 - 7
    bend = (y2 - y1) * 0.5
    return (f'<path class="needs" d="M{x1:.0f} {y1:.0f} C{x1:.0f} {y1 + bend:.0f} {x2:.0f} '
            f'{y2 - bend:.0f} {x2:.0f} {y2:.0f}" marker-end="url(#tip)"/>')


def drawing(root):
    needs = components(root)
    layer = layers(needs)
    at = places(layer, needs)
    height = max(layer.values()) * ROW
    out = [f'<svg class="components" viewBox="0 0 {WIDTH} {height}" role="img" aria-label="The components of '
           'libmini, layer by layer, each with arrows to the components that it needs">',
           '<defs><marker id="tip" viewBox="0 0 8 8" refX="1" refY="4" markerWidth="7" '
           'markerHeight="7" orient="auto"><path class="tip" d="M0 0 L8 4 L0 8 Z"/></marker></defs>']
    for level in range(1, max(layer.values()) + 1):
        y = height - level * ROW
        out.append(f'<rect class="layer{level % 2}" x="0" y="{y}" width="{WIDTH}" height="{ROW}"/>'
                   f'<text class="level" x="16" y="{y + ROW / 2 + 4:.0f}">layer {level}</text>')
    out += [arrow(at[component], at[need]) for component in sorted(needs) for need in direct(component, needs)]
    for component, (x, y) in at.items():
        out.append(f'<g><rect class="component" x="{x - COMPONENT_W / 2:.0f}" y="{y - COMPONENT_H / 2:.0f}" '
                   f'width="{COMPONENT_W}" height="{COMPONENT_H}" rx="8"/>'
                   f'<text class="name" x="{x:.0f}" y="{y - 3:.0f}">{component}</text>'
                   f'<text class="what" x="{x:.0f}" y="{y + 16:.0f}">{WHAT.get(component, "")}</text></g>')
    return "\n".join([*out, "</svg>"])


def page_part(root):
    return f'\\htmlonly[block]\n<div class="wide">{drawing(root)}</div>\n\\endhtmlonly'
