"""Makes the numbers of the figures that move: results of the programs `mini` and `simulate`.

Each figure's file, figure_NAME.js, is a line of JavaScript with JSON in it: a page may load it without a
server, which it may not do with a .json file.
"""

import json
import subprocess
from collections import namedtuple
from concurrent.futures import ThreadPoolExecutor
from itertools import product

ALGORITHMS, RANKS = ("ring", "tree", "halving-doubling"), range(2, 9)
MODEL, LINKS, CAPS = "resnet50", ("10Gbit,20us", "25Gbit,20us", "100Gbit,20us"), (1, 5, 25, 100)
STEP_RANKS = (1, 2, 4, 8, 16, 32)

# The models of the bucket explorer. The ConvNet's times and its first link are those of the measurement
# in lab 16; the times of the others are round numbers in proportion to their multiply-adds.
BucketModel = namedtuple("BucketModel",
                         "title name forward_ms backward_ms ranks links caps firsts chosen")
RESNET_CAPS = (0, .25, .5, 1, 2, 3, 4, 5, 7.5, 10, 12.5, 15, 17.5, 20, 25, 30, 35, 40, 50, 75, 100)
RESNET_FIRSTS = (0, .25, .5, 1, 2, 5, 10, 25)
KIB_CAPS = [kib / 1024 for kib in (0, .25, 1, 2, 4, 8, 16, 24, 32, 48, 64, 96, 128)]
BUCKET_MODELS = (
    BucketModel("ResNet-18", "resnet18", 15, 30, 8, LINKS, RESNET_CAPS, RESNET_FIRSTS,
                {"cap": 14, "first": 3, "link": 1}),
    BucketModel("ResNet-50", "resnet50", 35, 70, 8, LINKS, RESNET_CAPS, RESNET_FIRSTS,
                {"cap": 14, "first": 3, "link": 1}),
    BucketModel("ConvNet", "convnet", 8.6, 13, 2, ("100Mbit,300us", "1Gbit,5ms", "20Mbit"), KIB_CAPS,
                KIB_CAPS, {"cap": 10, "first": 10, "link": 0}))
MOST_SAMPLES, LEAST_RANKS, MOST_RANKS, EPOCHS = 16, 2, 4, 3


def result(program, *arguments):
    """Runs a program, and returns the JSON that it prints."""
    words = [str(program), *map(str, arguments)]
    return json.loads(subprocess.run(words, check=True, stdout=subprocess.PIPE).stdout)


def simulated(mini, *arguments):
    """Returns the result of lab 20's program, which lies beside mini."""
    return result(mini.with_name("simulate"), *arguments, "--json")


def collectives(mini):
    """Returns the messages of one all-reduce for each algorithm and number of ranks."""
    return [simulated(mini, "messages", "--algorithm", algorithm, "--ranks", ranks)
            for algorithm, ranks in product(ALGORITHMS, RANKS)]


def sampler(mini):
    """Returns each rank's samples, for "SAMPLES RANKS EPOCH drop", ... "in order" is not shuffled."""
    cases = list(product(range(1, MOST_SAMPLES + 1), range(LEAST_RANKS, MOST_RANKS + 1),
                         [*range(EPOCHS), "in order"], ("pad", "drop")))

    def lists(case):
        samples, ranks, epoch, tail = case
        order = ["--no-shuffle"] if epoch == "in order" else ["--epoch", epoch]
        return result(mini, "indices", "distributed", "--len", samples, "--replicas", ranks, *order,
                      *["--drop-last"] * (tail == "drop"), "--format", "json")

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
        run = simulated(mini, "step", "--model", MODEL, "--algorithm", "ring", "--ranks",
                     joined(STEP_RANKS), "--bucket-cap-mb", joined(CAPS), "--link", link,
                     *["--no-overlap"] * (overlap == "false"))
        names = ("ranks", "bucket_cap_mb", "buckets", "step_seconds", "exposed_seconds", "efficiency")
        runs[f"{link} {overlap}"] = [{name: row[name] for name in names} for row in run["rows"]]
    return {"model": MODEL, "links": LINKS, "caps": CAPS, "ranks": STEP_RANKS, "runs": runs}


def size(mib):
    """Returns "0", "64 KiB" or "25 MiB"."""
    return "0" if mib == 0 else f"{mib * 1024:g} KiB" if mib < 1 else f"{mib:g} MiB"


def microseconds(seconds):
    return round(seconds * 1e6, 1)


def bucket_runs(mini, model, link):
    """Returns what is simulated for all limits of the model's buckets on one link."""
    return simulated(mini, "buckets", "--model", model.name, "--forward-ms", model.forward_ms,
                  "--backward-ms", model.backward_ms, "--ranks", model.ranks, "--link", link,
                  "--bucket-cap-mb", joined(model.caps), "--first-bucket-mb", joined(model.firsts))


def buckets_of(mini, model):
    """Returns a model's gradients, and their buckets and timelines for all limits and links.

    Many limits give the same buckets: `packings` has each list of buckets once, as numbers of gradients,
    and `packing_of` its index, by first limit and cap. `times` has, by link and packing, the sum of the
    all-reduces, their part after backward, and begin and end of each bucket's all-reduce.
    """
    runs = [bucket_runs(mini, model, link) for link in model.links]
    packings, times = [], [[] for _ in runs]
    packing_of = [[None] * len(model.caps) for _ in model.firsts]
    for number, rows in enumerate(zip(*(run["rows"] for run in runs))):
        packing = [len(bucket["gradients"]) for bucket in rows[0]["buckets"]]
        if packing not in packings:
            packings.append(packing)
            for known, row in zip(times, rows):
                lane = [bucket[time] for bucket in row["buckets"]
                        for time in ("begin_seconds", "end_seconds")]
                sums = row["all_reduce_seconds"], row["exposed_seconds"]
                known.append(list(map(microseconds, (*sums, *lane))))
        first, cap = divmod(number, len(model.caps))
        packing_of[first][cap] = packings.index(packing)
    return {"name": model.title, "ranks": model.ranks, "links": model.links, "chosen": model.chosen,
            "forward": microseconds(runs[0]["forward_seconds"]),
            "backward": microseconds(runs[0]["backward_seconds"]),
            "caps": list(map(size, model.caps)), "firsts": list(map(size, model.firsts)),
            "gradients": [[gradient["name"], gradient["bytes"], microseconds(gradient["ready_seconds"])]
                          for gradient in runs[0]["gradients"]],
            "packings": packings, "packing_of": packing_of, "times": times}


def buckets(mini):
    return [buckets_of(mini, model) for model in BUCKET_MODELS]


FIGURES = {"buckets": buckets, "collectives": collectives, "sampler": sampler, "scaling": scaling}


def write_data(mini, folder):
    """Writes figure_NAME.js of each figure; returns the files."""
    files = []
    for name, make in FIGURES.items():
        data = json.dumps(make(mini), separators=(",", ":"))
        files.append(folder / f"figure_{name}.js")
        files[-1].write_text(f"(globalThis.figure_data ??= {{}}).{name} = {data};\n", encoding="utf-8")
    return files
