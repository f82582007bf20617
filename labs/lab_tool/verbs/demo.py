"""Trains the tutorial's ConvNet on MNIST with bucketed DDP, from setup to
result.

Lists the missing packages and installs them after a question, configures,
builds, also the tool mini, and runs two processes that exchange gradients.
Without MNIST it trains on digits that libmini draws; data/fetch_mnist gets it.
Options after "--" are for the training program: labs/lab demo -n 4 -- --lr 0.05

The run is recorded in a new folder of runs/, with a page, report.html.

With --mine it trains with your own code of the labs: the library with your
files of work/, and without the faster extras, which would replace your code.
Without options after "--" it then trains libmini's own, to compare them."""

import time

from lab_tool.building import build
from lab_tool.places import BIN, PRESET, ROOT
from lab_tool.process import become, spell
from lab_tool.screen import say
from lab_tool.verbs.setup import install_missing
from lab_tool.workspace import Workspace

PROGRAMS = {False: "train_mnist", True: "train_mnist_mine"}  # with --mine?
BESIDE = "labs/16-bucketed-ddp/beside.py"  # a course without lab 16 lacks it
DEFAULTS = {  # unless set in the program's own options
    "--sync": "ddp",
    "--bucket-cap-mb": "0.05",  # the gradients have 0.09 MB, so there are several buckets
}


def add_arguments(parser):
    parser.add_argument("-n", type=int, default=2, metavar="N", help="processes (2)")
    parser.add_argument("--epochs", type=int, default=3, metavar="E", help="epochs (3)")
    parser.add_argument("--mine", action="store_true", help="with your own code from work/")
    parser.add_argument("program_options", nargs="*", metavar="-- OPTIONS",
                        help="more options for train_mnist")


def command_for(options):
    folder = BIN.relative_to(ROOT)
    given = {word.split("=")[0] for word in options.program_options}
    chosen = {**DEFAULTS, "--epochs": str(options.epochs),
              "--logdir": time.strftime("runs/demo-%Y%m%d-%H%M%S")}
    return [str(folder / "minirun"), "-n", str(options.n), str(folder / PROGRAMS[options.mine]),
            *(word for pair in chosen.items() if pair[0] not in given for word in pair),
            *(["--plain"] if options.mine else []), *options.program_options]


def run(options):
    say("demo: packages, build, training; the first time 1.5 to 3 minutes of two idle cores")
    install_missing(optional=False)
    if options.mine:
        Workspace().refuse_misplaced()
    compares = options.mine and not options.program_options and (ROOT / BESIDE).exists()
    build(PRESET, ["minirun", PROGRAMS[options.mine], *[PROGRAMS[False]] * compares, "mini"])
    command = command_for(options)
    if "--logdir" in command:
        folder = command[command.index("--logdir") + 1]
        say(f"\nThe run report: {folder}/report.html (for a browser). Afterwards: labs/lab next")
    if compares:
        command = [BESIDE, *command[1:3], *command[4:]]
    say(f"\n$ {spell(command)}\n")
    become(command, ROOT)
