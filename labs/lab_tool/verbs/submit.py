"""Packs your files of one or several labs into a zip, to hand in.

    labs/lab submit          every lab that you have started
    labs/lab submit 7 9      two labs
    labs/lab submit 7 --output ada.zip

Builds the labs first. Code that does not compile is refused, with its first
error. Tasks may fail or be unwritten: the zip is your work as it is, and the
functions that your files do not define are listed. It has the files of work/,
and a manifest with the version of libmini, and the date."""

from pathlib import Path

from lab_tool import submission
from lab_tool.building import build_without_broken
from lab_tool.hunts import build_failure
from lab_tool.not_written import reported
from lab_tool.places import BUILD, shown
from lab_tool.screen import LabError, say
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("labs", nargs="*", metavar="N", help="labs (all that are started)")
    parser.add_argument("--output", type=Path, default=BUILD / "submission.zip", metavar="FILE",
                        help="the zip (build/submission.zip)")


def run(options):
    workspace = Workspace()
    labs = workspace.chosen(options.labs)
    workspace.refuse_misplaced()
    submission.paths_of(workspace, labs)  # a missing file or a link is an error before the build
    refuse_broken(workspace, labs)
    manifest = submission.pack(workspace, labs, options.output)
    say(f"wrote {shown(options.output)}: lab {', '.join(manifest['labs'])}")
    for path in manifest["files"]:
        say(f"  {path}")
    for lab in labs:
        for line in reported(lab.number):
            say(f"  not written: {line}")
    say("hand in this file, as it is")
    return 0


def refuse_broken(workspace, labs):
    broken = build_without_broken(workspace, labs)
    for lab in labs:
        if lab.hunt and not broken and not workspace.untouched(f"{lab.number}.hunt"):
            path = workspace.name(lab.hunt)
            failure = build_failure("", f"lab{lab.number}_bug_hunt_mine", path)
            broken = {path: failure.errors} if failure else {}
    for path, errors in broken.items():
        first = "\n".join(errors[0].spelled()) if errors else "see the logs in build/"
        raise LabError(f"work/{path} does not compile, and was not packed:\n{first}")
