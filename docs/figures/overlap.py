#!/usr/bin/env python3
"""Draws overlap.svg: two ranks that all-reduce buckets while backward is still running.

    python3 docs/figures/overlap.py > docs/figures/overlap.svg

Time runs to the right. Backward visits the layers from the last to the first. A bucket is launched
as soon as its last gradient is ready; its all-reduce connects the two ranks.
"""

WIDTH, HEIGHT = 860, 400
LEFT, UNIT = 92, 15.5  # x of time 0, and of one unit of time
ROW = {0: 86, 1: 268}  # y of a rank's compute row
NET_Y, NET_H = 166, 66
BAR_H = 44

# (name, start, end): forward, the layers of backward, the step.
FORWARD = ("forward", 0, 12)
LAYERS = (("fc2", 12, 15), ("fc1", 15, 20), ("conv2", 20, 30), ("conv1", 30, 38))
STEP = ("step", 45, 48)

# (label, time at which the bucket is full, start and end of the all-reduce, class)
BUCKETS = (
    ("bucket 0: fc2, fc1", 20, 20.7, 33, "b0"),
    ("bucket 1", 38, 38.7, 44.5, "b1"),
)
BUCKET_OF = {"fc2": "b0", "fc1": "b0", "conv2": "b1", "conv1": "b1"}

STYLE = """
  text { font: 14px system-ui, -apple-system, "Segoe UI", "DejaVu Sans", sans-serif; fill: #1f2933 }
  .small { font-size: 12px; fill: #52606d }
  .on { fill: #fff; font-size: 13px; font-weight: 600 }
  .rank { font-weight: 600 }
  .forward, .step { fill: #7b8794 }
  .b0 { fill: #c2410c } .b1 { fill: #1d6fb8 }
  .wire { stroke-width: 2; fill: none }
  .w0 { stroke: #c2410c } .w1 { stroke: #1d6fb8 }
  .lane { fill: #eef2f6; stroke: #cbd2d9 }
  .axis { stroke: #7b8794; stroke-width: 1.5; fill: none }
  .tip { fill: #7b8794 }
  .hidden { stroke: #52606d; stroke-width: 1.2; fill: none }
  @media (prefers-color-scheme: dark) {
    text { fill: #e4e7eb } .small { fill: #9aa5b1 } .on { fill: #fff }
    .lane { fill: #1c2733; stroke: #3e4c59 }
    .forward, .step { fill: #616e7c }
    .hidden { stroke: #9aa5b1 }
  }
"""


def x(time):
    return LEFT + UNIT * time


def box(start, end, y, height, style):
    return (f'<rect x="{x(start) + 1:.1f}" y="{y}" width="{UNIT * (end - start) - 2:.1f}" '
            f'height="{height}" rx="5" class="{style}"/>')


def label(middle, y, words, style, anchor="middle"):
    return f'<text x="{middle:.1f}" y="{y}" text-anchor="{anchor}" class="{style}">{words}</text>'


def bar(name, start, end, y, height, style):
    return [box(start, end, y, height, style),
            label(x((start + end) / 2), y + height / 2 + 5, name, "on")]


def draw_rank(rank):
    y = ROW[rank]
    parts = [label(LEFT - 14, y + BAR_H / 2 + 5, f"rank {rank}", "rank", "end")]
    parts += bar(*FORWARD, y, BAR_H, "forward")
    for name, start, end in LAYERS:
        parts += bar(name, start, end, y, BAR_H, BUCKET_OF[name])
    return parts + bar(*STEP, y, BAR_H, "step")


def draw_bucket(bucket):
    """The all-reduce in the middle lane, with a line from each rank when the bucket is full."""
    name, full, start, end, style = bucket
    parts = bar(name, start, end, NET_Y + 12, NET_H - 24, style)
    wire = style.replace("b", "w")
    for rank in (0, 1):
        edge = ROW[rank] + (BAR_H if rank == 0 else 0)
        near = NET_Y + (12 if rank == 0 else NET_H - 12)
        parts.append(f'<path d="M {x(full) - 3:.1f} {edge} C {x(full):.1f} {(edge + near) / 2} '
                     f'{x(start) + 9:.1f} {(edge + near) / 2} {x(start) + 9:.1f} {near}" '
                     f'class="wire {wire}"/>')
    return parts


def brace(start, end, y, words):
    """A span above the first row."""
    a, b = x(start) + 2, x(end) - 2
    return [f'<path d="M {a:.1f} {y + 7} V {y} H {b:.1f} V {y + 7}" class="hidden"/>',
            label((a + b) / 2, y - 7, words, "small")]


def main():
    parts = [label(LEFT, 26, "One training step on two ranks: gradients travel while backward goes "
                             "on", "rank", "start")]
    parts += brace(12, 38, 70, "backward, from the last layer to the first")
    parts.append(f'<rect x="{LEFT}" y="{NET_Y}" width="{UNIT * 48:.1f}" height="{NET_H}" rx="8" '
                 'class="lane"/>')
    parts.append(label(LEFT + 14, NET_Y + NET_H / 2 - 4, "ring all-reduce", "small", "start"))
    parts.append(label(LEFT + 14, NET_Y + NET_H / 2 + 13, "averages over the ranks", "small", "start"))
    for bucket in BUCKETS:
        parts += draw_bucket(bucket)
    for rank in (0, 1):
        parts += draw_rank(rank)
    axis_y = ROW[1] + BAR_H + 26
    parts.append(f'<path d="M {LEFT} {axis_y} H {x(48) - 8:.1f}" class="axis"/>')
    parts.append(f'<path d="M {x(48) - 10:.1f} {axis_y - 5} l 10 5 l -10 5 z" class="tip"/>')
    parts.append(label(x(48), axis_y + 20, "time", "small", "end"))
    parts.append(label(LEFT, axis_y + 20, "A bucket leaves when its last gradient is there; the "
                       "buckets leave in the same order on every rank.", "small", "start"))
    print(f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {HEIGHT}" '
          f'width="{WIDTH}" height="{HEIGHT}" role="img" aria-label="Two ranks compute forward and '
          'backward; two gradient buckets are all-reduced between them, the first while '
          'backward still runs">')
    print(f"<style>{STYLE}</style>")
    print("\n".join(parts))
    print("</svg>")


main()
