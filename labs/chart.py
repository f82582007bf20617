"""Draws the charts of measure.py scripts with `mini plot`.

    chart.draw("build/release/bin", "loss.svg", type="line", title="Loss", x="epoch", y="loss",
               series=chart.series({"alone": [(1, 1.3), (2, 0.3)]}))

docs/pages/plot.md has the keys of each type of chart.
"""

import json
import os
import subprocess
import sys

import built


def draw(bin_dir, path, **chart):
    """Writes a chart to `path`. Ends this program if that fails, after a message on stderr."""
    program = os.path.join(bin_dir, "mini")
    built.ensure(program)
    done = subprocess.run([program, "plot", "-", "--out", path], input=json.dumps(chart), text=True)
    if done.returncode:  # mini has printed the message
        sys.exit(done.returncode)


def series(lines, **options):
    """Returns {name: [(x, y), ...]} as series of a chart, each with these options."""
    return [{"name": name, "points": points, **options} for name, points in lines.items()]


def log(label):
    return {"label": label, "log": True}


def from_zero(label):
    return {"label": label, "from_zero": True}
