"""One run of labs/lab bench: measures the selected cases and writes the results to a folder.

    results.json     everything, with each round
    report.md        tables
    SECTION.svg      ratios as bars
    profile_64.svg   a step's parts and their floors as bars
"""

import json
import os
import time

import chart
from lab_tool.screen import LabError, ProgressLine, say

from bench import bars, report, rounds, step_profile
from bench.sections import PROFILE, TITLES, profile_batches

PROFILE_SECONDS = 4.0


def check_parameters(case):
    """Raises LabError if two models of a case have different numbers of parameters."""
    counts = {name: contender.answer["parameters"] for name, contender in case.contenders.items()
              if "parameters" in getattr(contender, "answer", {})}
    if len(set(counts.values())) > 1:
        raise LabError(f"{case.full_name()}: the models differ, their numbers of parameters are "
                       + ", ".join(f"{count:,} ({name})" for name, count in counts.items()))


def measure_case(case, wanted, machine, label):
    """Starts the contenders, measures all rounds and returns the figures."""
    started = []
    with ProgressLine(label) as progress:
        try:
            for name, contender in case.contenders.items():
                started.append(contender)
                progress.show(0, wanted, f"start {name}")
                contender.start()
            check_parameters(case)

            def on_round(outcome):
                repeated = len(outcome.disturbed)
                progress.show(len(outcome.quiet), wanted,
                              f"rounds, {repeated} disturbed" if repeated else "rounds")

            return rounds.figures(rounds.run_rounds(case, wanted, machine, on_round))
        finally:
            for contender in started:
                contender.stop()


def say_result(figures):
    ratios = ", ".join(f"{report.ratio_name(ratio)} {report.number(ratio['median'])}"
                       for ratio in figures["ratios"])
    mark = "" if figures["valid"] else f"  NOT VALID: {figures['why_not']}"
    values = ", ".join(f"{name} {report.number(value['median'])}"
                       for name, value in figures["contenders"].items())
    say(f"  {figures['case']}: {values} {figures['unit']}"
        + (f"; {ratios}" if ratios else "") + mark)


def measure_profile(plan, batch, machine):
    """Returns the figures of a profile. Repeats a disturbed profile twice, except in a quick run."""
    worker = plan.worker("profile", "--batch", str(batch), "--data", plan.data or "digits",
                         key="step_us", seconds=PROFILE_SECONDS)
    worker.launch()
    try:
        for _ in range(1 if plan.quick else 3):
            before = machine.wait_until_quiet()
            answer, noise = machine.watch(lambda: worker.ask(worker.seconds))
            found = step_profile.figures(answer, noise if before.is_quiet() else before)
            if found["valid"]:
                break
        return found
    finally:
        worker.stop()


def peaks(plan):
    """Returns {threads: GFLOP/s} of multiply-adds in registers, the processor's limit."""
    found = {}
    for threads in sorted({1, plan.cores}):
        worker = plan.worker("peak", "--threads", str(threads), key="gflops", seconds=0.3)
        worker.start()
        found[str(threads)] = worker.measure()
        worker.stop()
    return found


def profiles_of(plan, words, machine):
    found = []
    if profile_batches(plan, words):
        say(TITLES[PROFILE])
    for batch in profile_batches(plan, words):
        result = measure_profile(plan, batch, machine)
        say(f"  batch {batch}: {result['step_us']:,.0f} us a step, floor {result['floor_us']:,.0f} "
            f"us, named parts {result['accounted']:.1%}"
            + ("" if result["valid"] else f"  NOT VALID: {result['why_not']}"))
        found.append(result)
    return found


def measure(plan, cases, words, wanted, machine, facts):
    """Yields the results after each case, and at the end with the selected profiles. `facts`: of
    machine and peers."""
    load = os.getloadavg()[0]
    facts["machine"]["peak_gflops"] = peaks(plan)
    measured, section = [], ""

    def results(profiles):
        return {"date": time.strftime("%Y-%m-%d"), "quick": plan.quick,
                "load": [load, os.getloadavg()[0]], **facts, "cases": list(measured),
                "profiles": profiles}

    for number, case in enumerate(cases, 1):
        if case.section != section:
            section = case.section
            say(TITLES[section])
        measured.append(measure_case(case, wanted, machine, f"  [{number} of {len(cases)}]"))
        say_result(measured[-1])
        yield results([])
    yield results(profiles_of(plan, words, machine))


def check_same(earlier, facts, quick):
    """Raises LabError if `earlier` results may not be kept beside those of this run."""
    for key in ("commit", "cpu"):
        before, now = earlier["machine"][key], facts["machine"][key]
        if before != now:
            raise LabError(f"--keep: the earlier results are of {key} {before}, this is {now}; run "
                           "all cases again, without --keep")
    if earlier["quick"] != quick:
        raise LabError("--keep: a quick run and a measurement cannot be in one report")


def kept(earlier, results):
    """Returns `results` with the cases and profiles of `earlier` that this run did not measure."""
    cases = {(case["section"], case["case"]): case
             for case in (*earlier["cases"], *results["cases"])}
    profiles = {found["batch"]: found for found in (*earlier["profiles"], *results["profiles"])}
    return {**results, "cases": list(cases.values()), "profiles": list(profiles.values())}


def write(results, folder, programs):
    """Writes the files and returns their paths. Charts of sections without peers are left out.
    The folder `programs` has mini, which draws the charts."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in (("results.json", json.dumps(results, indent=1) + "\n"),
                       ("report.md", report.markdown(results))):
        (folder / name).write_text(text, encoding="utf-8")
    charts = charts_of(results)
    for name, drawn in charts.items():
        chart.draw(programs, folder / name, **drawn)
    return [folder / name for name in ("results.json", "report.md", *charts)]


def charts_of(results):
    """Returns {file: chart}."""
    charts = {}
    for section, title in TITLES.items():
        groups = bars.groups_of([case for case in results["cases"] if case["section"] == section])
        if groups:
            charts[f"{section}.svg"] = bars.ratios(title, groups)
    for found in results["profiles"]:
        charts[f"profile_{found['batch']}.svg"] = bars.profile(
            f"{TITLES[PROFILE]}: the ConvNet, batch {found['batch']}, one thread", found)
    return charts
