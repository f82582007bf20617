"""The stored state of a learner, in work/.lab.json: hints shown, results, and times if wanted."""

import json
import time
from pathlib import Path

from lab_tool.places import ROOT, replace_file
from lab_tool.screen import LabError
from lab_tool.verdict import PASSED

VERSION = 1
PAUSE = 30 * 60  # a longer time between two checks, in seconds, is not counted


class State:
    def __init__(self, root=ROOT):
        self.path = Path(root) / "work" / ".lab.json"
        self.labs = {}  # "07": {"hints": {"07.1": 2}, "results": {"07.1": "passed"}, ...}
        self.current = ""  # the lab that was started or checked last
        self.times = {}  # {"07.1": seconds, "": when the last check ended}; empty until wanted
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            if content["version"] != VERSION:
                raise ValueError("written by a newer libmini")
            self.labs, self.current = dict(content["labs"]), str(content["current"])
            self.times = dict(content.get("times", {}))
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError) as error:
            raise LabError(f"work/.lab.json cannot be read ({error}): delete it, then hints and results "
                           "start from zero; your code stays") from None

    def save(self):
        content = {"version": VERSION, "current": self.current, "labs": self.labs, "times": self.times}
        replace_file(self.path, json.dumps(content, indent=1, sort_keys=True))

    def of(self, lab):
        return self.labs.setdefault(lab, {"hints": {}, "results": {}, "solutions": []})

    def record(self, lab, results):
        """Stores results of a lab. A check takes long: other commands may have stored something since."""
        now, end = State(self.path.parents[1]), time.time()
        if now.times:  # they belong to the first task that had not passed
            task = next((each.task for each in results if now.result(each.task) != PASSED), "")
            spent = end - now.times[""]
            now.times |= {task: now.times.get(task, 0) + spent * (spent < PAUSE), "": end}
        now.of(lab)["results"].update({result.task: result.status for result in results})
        now.save()
        self.labs, self.current, self.times = now.labs, now.current, now.times

    def result(self, task):
        """Returns a task's last result: "passed", "failed", "not started", "waits" or ""."""
        return self.labs.get(task[:2], {}).get("results", {}).get(task, "")
