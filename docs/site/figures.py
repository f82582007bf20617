"""Makes the numbers of the figures that move: results of libmini's program `mini`.

Each figure's file, figure_NAME.js, is a line of JavaScript with JSON in it: a page may load it without a
server, which it may not do with a .json file.
"""

import json
import subprocess
from concurrent.futures import ThreadPoolExecutor
from itertools import product

ALGORITHMS, RANKS = ("ring", "tree", "halving-doubling"), range(2, 9)
MODEL, LINKS, CAPS = "resnet50", ("10Gbit,20us", "25Gbit,20us", "100Gbit,20us"), (1, 5, 25, 100)
STEP_RANKS = (1, 2, 4, 8, 16, 32)
MOST_SAMPLES, LEAST_RANKS, MOST_RANKS, EPOCHS = 16, 2, 4, 3


def result(mini, *arguments, json_option=("--format", "json")):
    """Runs mini, and returns the JSON that it prints."""
    words = [str(mini), *map(str, arguments), *json_option]
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


def joined(values):
    return ",".join(map(str, values))


def scaling(mini):
    """Returns simulated steps for each link, with overlap and without: "10Gbit,20us true"."""
    runs = {}
    for link, overlap in product(LINKS, ("true", "false")):
        run = result(mini, "simulate", "step", "--model", MODEL, "--algorithm", "ring", "--ranks",
                     joined(STEP_RANKS), "--bucket-cap-mb", joined(CAPS), "--link", link,
                     *["--no-overlap"] * (overlap == "false"), json_option=("--json", "-"))
        names = ("ranks", "bucket_cap_mb", "buckets", "step_seconds", "exposed_seconds", "efficiency")
        runs[f"{link} {overlap}"] = [{name: row[name] for name in names} for row in run["rows"]]
    return {"model": MODEL, "links": LINKS, "caps": CAPS, "ranks": STEP_RANKS, "runs": runs}


FIGURES = {"collectives": collectives, "sampler": sampler, "scaling": scaling}


def write_data(mini, folder):
    """Writes figure_NAME.js of each figure; returns the files."""
    files = []
    for name, make in FIGURES.items():
        data = json.dumps(make(mini), separators=(",", ":"))
        files.append(folder / f"figure_{name}.js")
        files[-1].write_text(f"(globalThis.figure_data ??= {{}}).{name} = {data};\n", encoding="utf-8")
    return files
