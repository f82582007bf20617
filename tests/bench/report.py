"""The results as a page in Markdown: for each section a table of medians, spreads and ratios."""

from bench.sections import PROFILE, TITLES

NOTE = ("Each cell is the median over the rounds, with the lowest and the highest round. The ratio "
        "A / B is computed within each round: A's time or memory divided by B's.")


def number(value):
    """Returns a number with three significant digits: 0.0123, 1.23, 12.3, 1,230."""
    if value == 0:
        return "0"
    digits = 0
    while abs(value) * 10 ** digits < 99.95 and digits < 6:
        digits += 1
    return f"{value:,.{digits}f}"


def cell(figure):
    return f"{number(figure['median'])} ({number(figure['low'])} to {number(figure['high'])})"


def ratio_name(ratio):
    return f"{ratio['of']} / {ratio['to']}"


def unique(names):
    return list(dict.fromkeys(names))


def row(words):
    return "| " + " | ".join(words) + " |"


def section_lines(results):
    """Returns a table of the cases with the same contenders."""
    names = unique(name for result in results for name in result["contenders"])
    ratios = unique(ratio_name(ratio) for result in results for ratio in result["ratios"])
    lines = [row(["case", *names, *ratios]), "|" + "---|" * (1 + len(names) + len(ratios))]
    for result in results:
        by_name = {ratio_name(ratio): ratio for ratio in result["ratios"]}
        mark = "" if result["valid"] else " (not valid)"
        lines.append(row([
            f"{result['case']}, {result['unit']}{mark}",
            *(cell(result["contenders"][name]) if name in result["contenders"] else ""
              for name in names),
            *(cell(by_name[name]) if name in by_name else "" for name in ratios)]))
    lines += [f"\nNot valid: {result['case']}: {result['why_not']}." for result in results
              if not result["valid"]]
    return lines


def profile_lines(profile):
    lines = [f"Batch {profile['batch']}, one thread: {profile['step_us']:,.0f} us a step; the named "
             f"parts are {profile['accounted']:.1%} of it. The floor is "
             f"{profile['floor_us']:,.0f} us, {profile['floor_us'] / profile['step_us']:.0%} of "
             f"the step (peak {profile['peak_gflops']:.0f} GFLOP/s).", "",
             "| part | forward, us | backward, us | share | floor, us | time / floor |",
             "|---|---|---|---|---|---|"]
    for part in profile["rows"]:
        over = f"{part['over_floor']:.1f}" if part["over_floor"] else ""
        lines.append(row([part["part"], f"{part['forward_us']:.0f}", f"{part['backward_us']:.0f}",
                          f"{part['us'] / profile['marked_step_us']:.1%}",
                          f"{part['floor_us']:.1f}", over]))
    if not profile["valid"]:
        lines += ["", f"Not valid: {profile['why_not']}."]
    return lines


def rounds_text(results):
    counts = sorted({len(case["rounds"]) for case in results["cases"] if case["valid"]})
    return f"{' or '.join(map(str, counts))} rounds, " if counts else ""


def heading(results):
    machine = results["machine"]
    torch = results["peers"]["torch"]
    peers = f"PyTorch {torch['version']} ({torch['cpu']})" if torch else "no PyTorch"
    kind = "quick run, not a measurement; " if results["quick"] else ""
    peak = ", ".join(f"{rate:.0f} GFLOP/s on {threads}"
                     for threads, rate in machine["peak_gflops"].items())
    return (f"{kind}{machine['cpu']} ({machine['vectors']}), {machine['cores']} cores (peak {peak}), "
            f"{machine['system']}; {peers}; {results['date']}, {rounds_text(results)}commit "
            f"{machine['commit'] or 'unknown'}; load average {results['load'][0]:.1f} before and "
            f"{results['load'][1]:.1f} after.")


def markdown(results):
    lines = ["# Measurements of labs/lab bench", "", heading(results), "", NOTE]
    for section, title in TITLES.items():
        cases = [result for result in results["cases"] if result["section"] == section]
        kinds = unique(tuple(result["contenders"]) for result in cases)
        if cases:
            lines += ["", f"## {title}"]
        for kind in kinds:
            lines += ["", *section_lines([result for result in cases
                                          if tuple(result["contenders"]) == kind])]
    if results["profiles"]:
        lines += ["", f"## {TITLES[PROFILE]}"]
    for profile in results["profiles"]:
        lines += ["", *profile_lines(profile)]
    if results["notes"]:
        lines += ["", *(f"- {note}" for note in results["notes"])]
    return "\n".join(lines) + "\n"


def invalid(results):
    """Returns (name, reason) of each case and profile that is not valid."""
    found = [(f"{result['section']}/{result['case']}", result["why_not"])
             for result in results["cases"] if not result["valid"]]
    return found + [(f"{PROFILE}/batch {profile['batch']}", profile["why_not"])
                    for profile in results["profiles"] if not profile["valid"]]
