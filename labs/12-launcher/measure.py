#!/usr/bin/env python3
"""How many lines of several ranks arrive whole, in one pipe and through minirun; draws whole.svg.

    labs/12-launcher/measure.py [--bin build/release/bin] [--ranks 4] [--svg FILE]
"""

import argparse
import fcntl
import os
import subprocess
import sys
import tempfile

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), ".."))
import built  # noqa: E402
import chart  # noqa: E402

SIZES = (100, 1000, 2000, 4000, 5000, 8000, 16000, 64000)
BYTES = 500_000  # that each rank writes
PIPE_BYTES = 4096  # the pipe's capacity: it is nearly always full, as with a slow reader

# The program of a rank: it writes lines of one letter, each line by one system call or in
# two halves. Before that, it writes to one named pipe that it is ready, and reads from
# another named pipe, so that all ranks begin at the same time.
RANK = """
import os, sys
ready, gate, size, pieces, count = *sys.argv[1:3], *map(int, sys.argv[3:])
line = (chr(ord("a") + int(os.environ["RANK"])) * (size - 1) + "\\n").encode()
os.write(os.open(ready, os.O_WRONLY), b"!")
os.read(os.open(gate, os.O_RDONLY), 1)
for _ in range(count):
    for piece in (line,) if pieces == 1 else (line[:size // 2], line[size // 2:]):
        while piece:
            piece = piece[os.write(1, piece):]
"""


def start_in_one_pipe(ranks, command):
    """Starts the ranks, with one pipe as stdout of all. Returns the pipe's read end."""
    reader, writer = os.pipe()
    fcntl.fcntl(writer, fcntl.F_SETPIPE_SZ, PIPE_BYTES)
    for rank in range(ranks):
        subprocess.Popen(command, stdout=writer, env={**os.environ, "RANK": str(rank)})
    os.close(writer)
    return open(reader, "rb")


def start_by_minirun(minirun, ranks, command):
    return built.start([minirun, "-n", str(ranks), *command], stdout=subprocess.PIPE,
                       pipesize=PIPE_BYTES).stdout


def is_whole(line, size):
    line = line.split(b"] ", 1)[-1]
    return len(line) == size - 1 and line == line[:1] * (size - 1)


def share_of_whole_lines(start, ranks, size, pieces):
    """Returns the percentage of the written lines that arrive whole."""
    count = max(50, BYTES // size)
    with tempfile.TemporaryDirectory() as folder:
        names = [os.path.join(folder, name) for name in ("ready", "gate")]
        for name in names:
            os.mkfifo(name)
        ready, gate = (os.open(name, os.O_RDWR) for name in names)
        output = start([sys.executable, "-c", RANK, *names, *map(str, (size, pieces, count))])
        for _ in range(ranks):
            os.read(ready, 1)
        os.write(gate, b"!" * ranks)
        lines = output.read().split(b"\n")
        os.close(ready)
        os.close(gate)
    return 100.0 * sum(is_whole(line, size) for line in lines) / (count * ranks)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--bin", default="build/release/bin")
    parser.add_argument("--ranks", type=int, default=4)
    parser.add_argument("--svg", default="whole.svg")
    options = parser.parse_args()

    def in_one_pipe(command):
        return start_in_one_pipe(options.ranks, command)

    def by_minirun(command):
        return start_by_minirun(f"{options.bin}/minirun", options.ranks, command)

    lines = {"one pipe, one write": [], "one pipe, two writes": [], "minirun, two writes": []}
    print("| bytes in a line | one pipe, one write | one pipe, two writes | minirun, two writes |\n"
          "|---|---|---|---|")
    for size in SIZES:
        shares = (share_of_whole_lines(in_one_pipe, options.ranks, size, 1),
                  share_of_whole_lines(in_one_pipe, options.ranks, size, 2),
                  share_of_whole_lines(by_minirun, options.ranks, size, 2))
        for points, share in zip(lines.values(), shares):
            points.append((size, share))
        print(f"| {size} | " + " | ".join(f"{share:.0f} %" for share in shares) + " |")
    chart.draw(options.bin, options.svg, type="line",
               title=f"Lines of {options.ranks} ranks that arrive whole",
               x=chart.log("bytes in a line"), y="percent", series=chart.series(lines))
    print(f"\ndrawn: {options.svg}")


if __name__ == "__main__":
    main()
