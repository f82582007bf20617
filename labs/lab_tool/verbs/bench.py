"""Measures libmini and its peers in turn, and writes tables and charts to
build/bench.

    labs/lab bench                              everything: about half an hour
    labs/lab bench --only step,all-reduce       some sections
    labs/lab bench --only "step/batch 64"       some cases of a section
    labs/lab bench --python ~/torch/bin/python  with the PyTorch of this Python
    labs/lab bench --quick                      a minute: measures nothing

The sections are step, epoch, all-reduce, resnet, data, start and profile. The
peers are PyTorch (eager and torch.compile), Gloo's library, one core's copy and
the processor's peak; an absent peer is left out, with a line that says how to
get it.

Nothing else may run meanwhile. Rounds that other processes disturb are measured
again; if there are too many, the result is marked as not valid, and the exit
code is 3.
"""

import json
import shutil
import sys
from argparse import ArgumentTypeError
from pathlib import Path

from lab_tool.building import build
from lab_tool.places import BUILD, ROOT, bin_dir, mnist_folder, shown
from lab_tool.process import spell
from lab_tool.screen import LabError, say
from lab_tool.verbs.setup import install_missing

sys.path.append(str(ROOT / "tests"))  # the package bench
sys.path.append(str(ROOT / "labs"))  # chart.py

from bench import peers, quiet, report, sections, session  # noqa: E402

PRESET = "release"
TARGETS = ["mini", "minirun", "train_mnist", "bench_worker", "data_bench"]
ROUNDS, QUICK_ROUNDS, PATIENCE = 7, 2, 60
NOT_VALID_EXIT = 3


def positive(text):
    if not text.isdecimal() or int(text) < 1:
        raise ArgumentTypeError(f"{text} is not a positive integer")
    return int(text)


def add_arguments(parser):
    parser.add_argument("--only", default="", metavar="WORDS",
                        help="sections or cases that begin with one of these, comma-separated")
    parser.add_argument("--rounds", type=positive, metavar="N",
                        help=f"undisturbed rounds of each case ({ROUNDS})")
    parser.add_argument("--quick", action="store_true",
                        help=f"{QUICK_ROUNDS} short rounds of small cases")
    parser.add_argument("--python", metavar="PROGRAM", help="a Python that has PyTorch (this one)")
    parser.add_argument("--out", type=Path, default=BUILD / "bench", metavar="FOLDER",
                        help="for the results (build/bench)")
    parser.add_argument("--keep", action="store_true",
                        help="keep the cases in FOLDER that this run does not measure")
    parser.add_argument("--patience", type=float, default=PATIENCE, metavar="S",
                        help=f"wait this long, in all, for a quiet machine ({PATIENCE})")
    parser.add_argument("--bin", type=Path, metavar="FOLDER",
                        help="libmini's programs; without this option they are built")


def run(options):
    words = [word.strip() for word in options.only.split(",") if word.strip()]
    check_words(words)
    if options.python and not shutil.which(options.python):
        raise LabError(f"--python {options.python}: there is no such program")
    earlier = earlier_results(options)
    if not options.bin:
        install_missing()
        build(PRESET, TARGETS)
    programs = (options.bin or bin_dir(PRESET)).resolve()
    plan, facts = make_plan(options, programs, words)
    cases = sections.cases_of(plan, words)
    if earlier:
        session.check_same(earlier, facts, options.quick)

    wanted = options.rounds or (QUICK_ROUNDS if options.quick else ROUNDS)
    machine = quiet.Machine(options.patience)
    for results in session.measure(plan, cases, words, wanted, machine, facts):
        if earlier:
            results = session.kept(earlier, results)
        files = session.write(results, options.out, programs)  # a run that is stopped keeps what it has
    say()
    for path in files:
        say(f"wrote {shown(path)}")
    return say_validity(results, options)


def check_words(words):
    names = [*sections.CASES, sections.PROFILE]
    for word in words:
        if not any(name.startswith(word.split("/")[0]) for name in names):
            raise LabError(f"--only {word}: there is no such section; the sections: "
                           + ", ".join(names))


def earlier_results(options):
    """Returns the results that --keep keeps, or None."""
    path = options.out / "results.json"
    if not options.keep or not path.exists():
        return None
    try:
        return json.loads(path.read_text(encoding="utf-8"))
    except ValueError:
        raise LabError(f"{shown(path)} is damaged; delete it, or run this without --keep") from None


def make_plan(options, programs, words):
    """Finds the peers; returns the plan, and the facts about peers and machine for the report."""
    say("look for the peers")
    needs_compile = sections.is_wanted("step", [word.split("/")[0] for word in words])
    found = peers.find_peers(options.python, programs / "mini", needs_compile)
    notes = found.notes() if needs_compile or not found.torch else [
        note for note in found.notes() if not note.startswith("torch.compile")]
    data = mnist_folder()
    if not data:
        notes.append("MNIST is absent: libmini trains on digits and PyTorch on random images of "
                     "the same size; data/fetch_mnist fetches it")
    for note in notes:
        say(f"  {note}")
    plan = sections.Plan(programs, found, str(data or ""), options.quick)
    return plan, {"machine": peers.machine_facts(), "peers": found.facts(), "notes": notes}


def again(options, names):
    """Returns the command that measures these cases again."""
    command = ["labs/lab", "bench", "--keep", "--only", ",".join(names)]
    for word, value in (("--python", options.python), ("--bin", options.bin),
                        ("--out", options.out if options.out != BUILD / "bench" else None),
                        ("--rounds", options.rounds)):
        command += [word, str(value)] if value else []
    return spell([*command, *(["--quick"] if options.quick else [])])


def say_validity(results, options):
    """Says which results are not valid, and what to do; returns the exit code."""
    found = report.invalid(results)
    if not found:
        say("all results are valid" + (" (a quick run is not a measurement)"
                                       if results["quick"] else ""))
        return 0
    say(f"\n{len(found)} results are NOT VALID, and must not be published:")
    for name, reason in found:
        say(f"  {name}: {reason}")
    say("stop the other work on this machine, then measure these cases again:\n  "
        + again(options, [name for name, _ in found]))
    return NOT_VALID_EXIT

