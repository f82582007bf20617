"""Begins a lab: writes its starter files to work/, where your own code goes.

    labs/lab start 9              its main files are empty: you write them whole
    labs/lab start 9 --guided     all files have a frame, for 80 % of the points

An empty file has its includes, and as a comment the functions to define. A
frame is a copy of libmini's file with MINI_TODO in place of the code that you
write; files that are never empty give all points. Your own files stay.

With --times once, work/.lab.json notes from then on how long each task takes,
from check to check, but no pause of over 30 minutes. labs/lab status shows it,
without a name: give its output to your instructor if you like."""

import time

from lab_tool import report
from lab_tool.screen import LabError, say
from lab_tool.workspace import Workspace


def add_arguments(parser):
    parser.add_argument("lab", metavar="N", help="the lab's number: 7")
    parser.add_argument("--guided", action="store_true", help="with a frame in every file")
    parser.add_argument("--times", action="store_true", help="note how long tasks take")


def run(options):
    workspace = Workspace()
    catalogue, state = workspace.catalogue, workspace.state
    lab = catalogue.lab(options.lab)
    kept = [path for path in catalogue.files_of(lab.number) if workspace.mine(path) is not None]
    if kept and kept == catalogue.files_of(lab.number):
        raise LabError(f"lab {lab.number} was started before; go on: labs/lab check {lab.number}; "
                       f"begin again: labs/lab reset {lab.number}{' --guided' * options.guided}")
    paths = workspace.start(lab.number, options.guided)
    if lab.hunt and workspace.mine(lab.hunt) is None:
        workspace.write(lab.hunt, workspace.reference(lab.hunt))
    state.current = lab.number
    state.times |= {"": time.time()} if options.times else {}
    state.save()

    say(report.head(lab))
    say(f"  read   {lab.folder.relative_to(catalogue.root)}/README.md")
    for path in paths:
        tasks = sorted({region.task for region in catalogue.regions if region.path == path})
        form = ", from an empty file" if workspace.is_whole(path) and path not in kept else ""
        say(f"  {'kept ' if path in kept else 'write'}  {workspace.shown(path)}  ({', '.join(tasks)}{form})")
    if not catalogue.course:
        say("  note   libmini's own files of these names are the solutions: read those in work/")
    if lab.hunt:
        say(f"  hunt   {workspace.shown(lab.hunt)}  (labs/lab check {lab.number} hunt)")
    say(f"  check  labs/lab check {lab.number}")
    return 0
