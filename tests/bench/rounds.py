"""Rounds: all contenders of a case, in turn, again and again; and the statistics over them.

    round       1          2          3
            A  B  C    A  B  C    A  B  C

A slow drift of the machine (temperature, other guests) then affects all contenders alike, and the
ratio of two contenders is taken within a round. A round in which other processes disturbed any
contender is repeated; after as many disturbed rounds as `rounds`, the case ends and is not valid.
"""

import statistics
from dataclasses import dataclass, field


@dataclass
class Case:
    """What is measured in turn. `contenders`: {name: a contender}, see workers.py. `ratios`: pairs
    (numerator, denominator) of names; by default each other contender over the first."""

    section: str
    name: str
    unit: str
    contenders: dict
    ratios: list = field(default_factory=list)

    def full_name(self):
        return f"{self.section}/{self.name}"

    def wanted_ratios(self):
        names = list(self.contenders)
        pairs = self.ratios or [(name, names[0]) for name in names[1:]]
        return [pair for pair in pairs if set(pair) <= set(names)]


@dataclass
class Outcome:
    case: Case
    wanted: int  # rounds
    quiet: list = field(default_factory=list)  # one {name: value} per undisturbed round
    disturbed: list = field(default_factory=list)
    noise: str = ""  # of the last disturbed round

    def is_valid(self):
        return len(self.quiet) >= self.wanted

    def rounds(self):
        """Returns the rounds that the figures come from: the quiet ones, if there are enough."""
        return self.quiet if self.is_valid() else self.quiet + self.disturbed


def run_round(case, machine):
    """Measures each contender once. Returns {name: value} and the worst noise."""
    values, worst = {}, machine.wait_until_quiet()
    for name, contender in case.contenders.items():
        values[name], noise = machine.watch(contender.measure)
        if not noise.is_quiet() and (worst.is_quiet() or noise.cores > worst.cores):
            worst = noise
    return values, worst


def run_rounds(case, wanted, machine, on_round=lambda outcome: None):
    """Returns the outcome of a case. The contenders must have been started."""
    outcome = Outcome(case, wanted)
    while len(outcome.quiet) < wanted and len(outcome.disturbed) < wanted:
        values, noise = run_round(case, machine)
        if noise.is_quiet():
            outcome.quiet.append(values)
        else:
            outcome.disturbed.append(values)
            outcome.noise = str(noise)
        on_round(outcome)
    return outcome


def summary(values):
    """Returns the median and the spread: the lowest and the highest value."""
    return {"median": statistics.median(values), "low": min(values), "high": max(values)}


def figures(outcome):
    """Returns a case's result as it is written to the JSON file."""
    case, rounds = outcome.case, outcome.rounds()
    ratios = [{"of": over, "to": under,
               **summary([values[over] / values[under] for values in rounds])}
              for over, under in case.wanted_ratios()]
    return {
        "section": case.section, "case": case.name, "unit": case.unit,
        "valid": outcome.is_valid(),
        "why_not": "" if outcome.is_valid() else outcome.noise,
        "contenders": {name: summary([values[name] for values in rounds])
                       for name in case.contenders},
        "ratios": ratios,
        "rounds": outcome.quiet, "disturbed_rounds": outcome.disturbed,
    }
