"""Packs your files of one or several labs into a zip, to hand in.

    labs/lab submit          every lab that you have started
    labs/lab submit 7 9      two labs

The zip is your work as it is: nothing is built, and tasks may fail or be
unwritten. It has the files of work/, and a manifest with the version of
libmini, and the date. labs/lab grade shows the points that it gets."""

from lab_tool import submission
from lab_tool.places import BUILD, shown
from lab_tool.screen import say
from lab_tool.workspace import Workspace

ZIP = BUILD / "submission.zip"


def add_arguments(parser):
    parser.add_argument("labs", nargs="*", metavar="N", help="labs (all that are started)")


def run(options):
    workspace = Workspace()
    labs = workspace.chosen(options.labs)
    workspace.refuse_misplaced()
    manifest = submission.pack(workspace, labs, ZIP)
    say(f"wrote {shown(ZIP)}: lab {', '.join(manifest['labs'])}")
    for path in manifest["files"]:
        say(f"  {path}")
    say(f"hand in this file, as it is; to see its points: labs/lab grade {' '.join(manifest['labs'])}")
    return 0
