"""For authors of labs and for instructors.

    labs/lab dev check                          check the labs themselves
    labs/lab dev export ~/cs101 --labs 7,9,10   a course without solutions

dev check verifies what docs/CONTRIBUTING.md asks of a lab. At the end it prints
the mutants with the cases that killed them, the complaints, and the counts. The
exit code is 1 if there is a complaint."""

import time

from author_tool import dev_check, export, repairs, rules
from author_tool.dev_check import Outcome
from author_tool.mutants import read_mutants
from author_tool.schemata import generate
from lab_tool.catalogue import Catalogue
from lab_tool.places import BUILD, fresh_log
from lab_tool.screen import LabError, say
from lab_tool.workspace import Workspace


def add_arguments(parser):
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = actions.add_parser("check", help="check the labs")
    check.add_argument("--lab", metavar="N", help="only this lab: quicker, while you write it")
    export.add_arguments(actions.add_parser("export", help="make a course repository"))


def run(options):
    return export.run(options) if options.action == "export" else check_labs(options)


def check_labs(options):
    start = time.monotonic()

    def step(what):
        say(f"{what} ({time.monotonic() - start:.0f} s)")

    outcome = Outcome()
    catalogue = Catalogue()
    labs = [catalogue.lab(options.lab)] if options.lab else catalogue.labs
    try:
        mutants = read_mutants(catalogue)
        step("read the labs")
        for complaint in (*rules.check_regions(catalogue), *rules.check_lambdas(catalogue),
                          *rules.check_tasks(catalogue), *rules.check_mutants(catalogue, mutants)):
            outcome.blame(complaint)
        run_all(catalogue, labs, mutants, outcome, step)
    except LabError as error:
        outcome.blame(str(error))
    return conclude(catalogue, labs, outcome, time.monotonic() - start)


def run_all(catalogue, labs, mutants, outcome, step):
    step("build all bodies")
    generate(catalogue, labs, mutants, dev_check.SCHEMATA)
    variants = repairs.generate(catalogue, labs, BUILD / "hunts")
    log = fresh_log("dev-check")
    dev_check.build_schemata(catalogue, labs, log)
    for complaint in rules.check_cases(labs):
        outcome.blame(complaint)
    step("run the bug hunts")
    repairs.check_hunts(labs, variants, outcome, log)
    cases = {lab.number: dev_check.cases_of(lab) for lab in labs}
    step("the references")
    sound = dev_check.check_references(labs, cases, outcome)
    step("the stubs")
    dev_check.check_stubs(catalogue, sound, cases, outcome)
    step("the empty files")
    dev_check.check_empty_forms(Workspace(catalogue), sound, cases, outcome, log)
    step("the mutants")
    numbers = {lab.number for lab in sound}
    dev_check.check_mutants([mutant for mutant in mutants if mutant.lab in numbers], cases, outcome)


def conclude(catalogue, labs, outcome, seconds):
    if outcome.killed:
        say("\nmutant                                        killed by")
    for mutant, verdict in outcome.killed:
        say(f"{mutant.name:45} {verdict.name}")
    for complaint in outcome.complaints:
        say(f"\nWRONG: {complaint}")
    regions = [region for lab in labs for region in catalogue.regions_of(lab=lab.number)]
    also = " and 00 (by tests/labs/whole_idea_test.py)" * (len(labs) > 1 and bool(catalogue.lab00))
    counts = [f"{len(labs)} labs{also}", f"{sum(len(lab.tasks) for lab in labs)} tasks",
              f"{len(regions)} regions", *(f"{number} {what}" for what, number in outcome.counts.items())]
    counts += [f"{len(outcome.killed)} killed", f"{len(outcome.complaints)} wrong"]
    say(f"\ndev check: {', '.join(counts)}, {seconds:.0f} s")
    return 1 if outcome.complaints else 0
