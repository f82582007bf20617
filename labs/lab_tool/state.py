"""The stored state of a learner, in work/.lab.json: labs started, hints shown, results."""

import json
from pathlib import Path

from lab_tool.places import ROOT, replace_file
from lab_tool.screen import LabError

VERSION = 1


class State:
    def __init__(self, root=ROOT):
        self.path = Path(root) / "work" / ".lab.json"
        self.labs = {}  # "07": {"hints": {"07.1": 2}, "results": {"07.1": "passed"}, ...}
        self.current = ""  # the lab that was started or checked last
        try:
            content = json.loads(self.path.read_text(encoding="utf-8"))
            if content["version"] != VERSION:
                raise ValueError("written by a newer libmini")
            self.labs, self.current = dict(content["labs"]), str(content["current"])
        except FileNotFoundError:
            return
        except (ValueError, KeyError, TypeError) as error:
            raise LabError(f"work/.lab.json cannot be read ({error}): delete it, then hints and results "
                           "start from zero; your code stays, and labs/lab start keeps it") from None

    def save(self):
        content = {"version": VERSION, "current": self.current, "labs": self.labs}
        replace_file(self.path, json.dumps(content, indent=1, sort_keys=True))

    def of(self, lab):
        return self.labs.setdefault(lab, {"started": False, "hints": {}, "results": {}, "solutions": []})

    def record(self, lab, results):
        """Stores results of a lab. A check takes long: other commands may have stored something since."""
        now = State(self.path.parents[1])
        now.of(lab)["results"].update({result.task: result.status for result in results})
        now.save()
        self.labs, self.current = now.labs, now.current

    def result(self, task):
        """Returns a task's last result: "passed", "failed", "not started", "waits" or ""."""
        return self.labs.get(task[:2], {}).get("results", {}).get(task, "")
