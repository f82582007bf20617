"""What a late submission costs.

    --due 2026-10-12T23:59         the deadline; without a zone, in this machine's
    --submitted 2026-10-14T08:00   when the work was handed in; by default, now
    --late-days 2                  so many days cost nothing
    --late-penalty 10              each further day costs so many percent of the points

A day has begun with its first second: 1 s after the deadline is one day late.
"""

import json
import math
from argparse import ArgumentTypeError
from dataclasses import dataclass
from datetime import datetime, timedelta, timezone

from lab_tool.screen import LabError


@dataclass(frozen=True)
class Late:
    days: int  # begun days after the deadline
    free: int  # of these, the days that cost nothing
    penalty: float  # percent of the points for each other day

    @property
    def charged(self):
        return max(0, self.days - self.free)

    @property
    def factor(self):
        """The share of the points that remains."""
        return max(0.0, 1 - self.charged * self.penalty / 100)

    def spelled(self):
        free = f", {min(self.free, self.days)} of them free" if self.free else ""
        return (f"{self.days} {'day' if self.days == 1 else 'days'} late{free}: "
                f"{100 * self.factor:g} % of the points remain")


def add_arguments(parser):
    group = parser.add_argument_group("deadline")
    group.add_argument("--due", type=time, metavar="TIME", help="the deadline, as in ISO 8601")
    group.add_argument("--submitted", type=time, metavar="TIME", help="the submission (now)")
    group.add_argument("--metadata", metavar="FILE",
                       help="read both from Gradescope's submission_metadata.json")
    group.add_argument("--late-days", type=int, default=0, metavar="N",
                       help="days that cost nothing (0)")
    group.add_argument("--late-penalty", type=float, default=100.0, metavar="PERCENT",
                       help="that each further day costs (100)")


def time(text):
    """Returns the time of a text in ISO 8601."""
    try:
        found = datetime.fromisoformat(text.replace("Z", "+00:00"))
    except ValueError:
        raise ArgumentTypeError(f"{text} is not a time such as 2026-10-12T23:59 or "
                                "2026-10-12T23:59:00+02:00") from None
    return found.astimezone()  # a time without a zone is in this machine's zone


def late_of(options):
    """Returns the Late of the options; None without a deadline."""
    due, submitted = options.due, options.submitted
    if options.metadata:
        due, submitted = times_in(options.metadata, due, submitted)
    if options.late_days < 0 or options.late_penalty < 0:
        raise LabError("--late-days and --late-penalty must not be negative")
    if due is None:
        return None
    over = (submitted or datetime.now(timezone.utc)) - due
    return Late(max(0, math.ceil(over / timedelta(days=1))), options.late_days,
                options.late_penalty)


def times_in(path, due, submitted):
    """Returns the deadline and the submission's time from a file of Gradescope; options that are
    given come first."""
    try:
        with open(path, encoding="utf-8") as file:
            found = json.load(file)
        stated = found.get("assignment", {}).get("due_date")
        return (due or (time(stated) if stated else None),
                submitted or time(found["created_at"]))
    except (ValueError, KeyError, AttributeError, TypeError, ArgumentTypeError) as error:
        raise LabError(f"{path} is not a submission_metadata.json of Gradescope: {error}") from None
