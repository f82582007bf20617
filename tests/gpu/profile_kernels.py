"""The part "profile" of run.py: NVIDIA's ncu counts what the simulator counts, for the programs of
lab 06. The simulator's counts are files in a folder, made by a build with the simulator:

    for name in matmul relu softmax sum; do
        mini cuda -I. --count labs/06-cuda-kernels/{trees,run_$name,$name}.cu 2> counts/$name.txt
    done
    tests/gpu/run.py --build build/gpu --out gpu.json --simulator counts
"""

import csv
import re

from checks import Tool
from steps import Step, left_out

# By the simulator's count: ncu's metric of the same.
COUNTS = {
    "load_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_ld.sum",
    "store_sectors": "l1tex__t_sectors_pipe_lsu_mem_global_op_st.sum",
    "shared_passes": "l1tex__data_pipe_lsu_wavefronts_mem_shared.sum",
}
# What the simulator does not know.
MORE = {
    "us": "gpu__time_duration.sum",
    "dram_percent": "dram__throughput.avg.pct_of_peak_sustained_elapsed",
    "sm_percent": "sm__throughput.avg.pct_of_peak_sustained_elapsed",
    "occupancy_percent": "sm__warps_active.avg.pct_of_peak_sustained_active",
    "registers": "launch__registers_per_thread",
}
METRICS = {**COUNTS, **MORE}
COUNTED = re.compile(r"^(\w+), \d+ blocks of \d+ threads\n"
                     r"    loads \d+ instructions, (\d+) sectors.*; stores \d+ instructions, (\d+) sectors.*\n"
                     r"(?:    shared memory (\d+) passes)?", re.M)


def number(text):
    try:
        return float(text.replace(",", ""))
    except ValueError:
        return None


def launches_of(output):
    """Returns the kernels that ncu --csv has measured, in order: [{"kernel": name, count: number}]."""
    lines = [line for line in output.splitlines() if line.startswith('"')]
    launches = {}
    for row in csv.DictReader(lines):
        launch = launches.setdefault(row["ID"], {"kernel": row["Kernel Name"]})
        for name, metric in METRICS.items():
            if row["Metric Name"] == metric:
                value = number(row["Metric Value"])
                in_nanoseconds = row["Metric Unit"] in ("ns", "nsecond")
                launch[name] = value / 1000 if in_nanoseconds and value is not None else value
    return list(launches.values())


def counts_in(text):
    """Returns the kernels that `mini cuda --count` has counted, in order: [{"kernel": name, count: number}]."""
    return [{"kernel": kernel, "load_sectors": int(loads), "store_sectors": int(stores),
             "shared_passes": int(passes or 0)} for kernel, loads, stores, passes in COUNTED.findall(text)]


def agreement(measured, simulated):
    """Returns the launches of one program with both counts: {count: [ncu's, the simulator's]}."""
    if len(measured) != len(simulated):
        return {"disagree": f"{len(measured)} launches on the GPU, {len(simulated)} on the simulator"}
    both = []
    for gpu, sim in zip(measured, simulated):
        counts = {name: [gpu.get(name), sim[name]] for name in COUNTS}
        both.append({**gpu, **counts, "kernel": sim["kernel"],
                     "agree": all(a == b for a, b in counts.values())})
    return both


def profile(tool, arguments, name, simulated, seconds):
    words = ["--csv", "--clock-control", "none", "--metrics", ",".join(METRICS.values()),
             arguments.build / "bin" / f"lab06_{name}"]
    result = tool.run(words, seconds)
    if result["status"] == "passed":
        result["data"] = agreement(launches_of(result.pop("output")), simulated)
    return result


def steps(arguments):
    """Yields a step for each program that the simulator has counted."""
    if arguments.simulator is None:
        yield Step("ncu", lambda seconds: left_out("no --simulator: mini cuda --count makes its files"))
        return
    tool = Tool("ncu")
    for file in sorted(arguments.simulator.glob("*.txt")):
        def measure(seconds, name=file.stem, simulated=counts_in(file.read_text())):
            return profile(tool, arguments, name, simulated, seconds)
        yield Step(f"ncu {file.stem}", measure)
