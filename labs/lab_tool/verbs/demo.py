"""Trains the tutorial's ConvNet on MNIST with bucketed DDP, from setup to
result.

Lists the missing packages and installs them after a question, configures,
builds, also the tool mini, and runs two processes that exchange gradients.
Without MNIST it trains on digits that libmini draws; data/fetch_mnist gets it.
Options after "--" are for the training program: labs/lab demo -n 4 -- --lr 0.05

The run is recorded in a new folder of runs/, with a page, report.html.

With --mine it trains with your own code of the labs: the library with your
files of work/, and without the faster extras, which would replace your code.
The newest of your labs 14 to 16 averages. Without options after "--" it then
trains libmini's own, to compare them."""

import time

from lab_tool.building import build
from lab_tool.places import BIN, PRESET, ROOT
from lab_tool.process import become, spell
from lab_tool.screen import say
from lab_tool.verbs.setup import install_missing
from lab_tool.workspace import Workspace

PROGRAMS = {False: "train_mnist", True: "train_mnist_mine"}  # with --mine?
BESIDE = "labs/16-bucketed-ddp/beside.py"  # a course without lab 16 lacks it
RUNS_LAB = {  # what makes the training program use a lab's code, if it does not always
    "07": "--partition tutorial", "14": "--sync average", "15": "--sync overlap", "16": "--sync ddp",
    "17": "--fresh --checkpoint runs/checkpoints", "18": "--sync ddp --compress powersgd",
    "19": "--zero"}


def add_arguments(parser):
    parser.add_argument("-n", type=int, default=2, metavar="N", help="processes (2)")
    parser.add_argument("--epochs", type=int, default=3, metavar="E", help="epochs (3)")
    parser.add_argument("--mine", action="store_true", help="with your own code from work/")
    parser.add_argument("program_options", nargs="*", metavar="-- OPTIONS",
                        help="more options for train_mnist")


def command_for(options, own):
    """Returns the command of the training. `own`: what RUNS_LAB has for the learner's labs."""
    folder = BIN.relative_to(ROOT)
    given = {word.split("=")[0] for word in options.program_options}
    sync = next((own[lab] for lab in ("16", "15", "14") if lab in own), RUNS_LAB["16"])
    chosen = {"--sync": sync.split()[1],  # unless set in the program's own options
              "--bucket-cap-mb": "0.05",  # the gradients have 0.09 MB, so there are several buckets
              "--epochs": str(options.epochs), "--logdir": time.strftime("runs/demo-%Y%m%d-%H%M%S")}
    return [str(folder / "minirun"), "-n", str(options.n), str(folder / PROGRAMS[options.mine]),
            *(word for pair in chosen.items() if pair[0] not in given for word in pair),
            *(["--plain"] if options.mine else []), *options.program_options]


def run(options):
    say("demo: packages, build, training; the first time 1.5 to 3 minutes of two idle cores")
    install_missing(optional=False)
    workspace = Workspace()
    own = {lab.number: RUNS_LAB[lab.number] for lab in workspace.catalogue.labs
           if options.mine and lab.number in RUNS_LAB and workspace.started(lab.number)}
    if options.mine:
        workspace.refuse_misplaced()
    compares = options.mine and not options.program_options and (ROOT / BESIDE).exists()
    build(PRESET, ["minirun", PROGRAMS[options.mine], *[PROGRAMS[False]] * compares, "mini"])
    command = command_for(options, own)
    if "--logdir" in command:
        folder = command[command.index("--logdir") + 1]
        say(f"\nThe run report: {folder}/report.html (for a browser). Afterwards: labs/lab next")
    for lab, words in own.items():
        if words.split()[-1] not in command:
            say(f"not all files of your lab {lab} run here: labs/lab demo --mine -- {words}")
    if compares:
        command = [BESIDE, *command[1:3], *command[4:]]
    say(f"\n$ {spell(command)}\n")
    become(command, ROOT)
