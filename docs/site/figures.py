"""Makes the numbers of the figures that move: results of libmini's program `mini`.

Each figure's file, figure_NAME.js, is a line of JavaScript with JSON in it: a page may load it without a
server, which it may not do with a .json file.
"""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import product

ALGORITHMS, RANKS = ("ring", "tree", "halving-doubling"), range(2, 9)
MOST_SAMPLES, LEAST_RANKS, MOST_RANKS, EPOCHS = 16, 2, 4, 3


def result(mini, *arguments):
    """Runs mini, and returns the JSON that it prints."""
    words = [str(mini), *map(str, arguments), "--format", "json"]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def collectives(mini):
    """Returns the messages of one all-reduce for each algorithm and number of ranks."""
    return [result(mini, "simulate", "messages", "--algorithm", algorithm, "--ranks", ranks)
            for algorithm, ranks in product(ALGORITHMS, RANKS)]


def sampler(mini):
    """Returns each rank's samples, for "SAMPLES RANKS EPOCH drop", ... "in order" is not shuffled."""
    cases = list(product(range(1, MOST_SAMPLES + 1), range(LEAST_RANKS, MOST_RANKS + 1),
                         [*range(EPOCHS), "in order"], ("pad", "drop")))

    def lists(case):
        samples, ranks, epoch, tail = case
        order = ["--no-shuffle"] if epoch == "in order" else ["--epoch", epoch]
        return result(mini, "indices", "distributed", "--len", samples, "--replicas", ranks, *order,
                      *["--drop-last"] * (tail == "drop"))

    with ThreadPoolExecutor(2) as pool:
        made = pool.map(lists, cases)
    return {"most_samples": MOST_SAMPLES, "least_ranks": LEAST_RANKS, "most_ranks": MOST_RANKS,
            "epochs": EPOCHS, "lists": {" ".join(map(str, case)): one for case, one in zip(cases, made)}}


FIGURES = {"collectives": collectives, "sampler": sampler}


def write_data(mini, folder):
    """Writes figure_NAME.js of each figure; returns the files."""
    files = []
    for name, make in FIGURES.items():
        data = json.dumps(make(mini), separators=(",", ":"))
        files.append(folder / f"figure_{name}.js")
        files[-1].write_text(f"(globalThis.figure_data ??= {{}}).{name} = {data};\n", encoding="utf-8")
    return files
