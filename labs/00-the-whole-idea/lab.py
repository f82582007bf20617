"""What labs/lab start 0, check 0 and reset 0 do. Lab 00 has no tasks: its two programs are files that
need nothing of libmini, and each has the command that compiles it in its first lines."""

import re
import shlex
import shutil
import subprocess

from lab_tool.checking import TaskResult
from lab_tool.places import shown
from lab_tool.report import say_wrapped
from lab_tool.screen import LabError, say
from lab_tool.verdict import FAILED, PASSED
from lab_tool.workspace import Workspace

FOLDER = "labs/00-the-whole-idea"
SELF_TEST, TRAINING = (f"{FOLDER}/{name}.cpp" for name in ("self_test", "mini_ddp"))
RUNS = {SELF_TEST: [], TRAINING: ["ranks=2", "epochs=2"]}  # each program's arguments
UNFINISHED = ""  # the result of a check that finds nothing wrong in what is begun
PIECE = re.compile(r"^// ---- (\d+)\. (.*?)(?=^// ---- )", re.MULTILINE | re.DOTALL)


def start():
    """Copies the two programs to work/; keeps copies that are there."""
    workspace = Workspace()
    say(f"lab 00 · The whole idea\n  read   {FOLDER}/README.md")
    for path in RUNS:
        is_kept = workspace.mine(path) is not None
        if not is_kept:
            workspace.write(path, workspace.reference(path))
        say(f"  {'kept  ' if is_kept else 'change'} {workspace.shown(path)}")
    say("  check  labs/lab check 0")
    workspace.state.current = "00"
    workspace.state.save()
    return 0


def reset():
    """Puts the two programs back, with a backup of those that were changed."""
    workspace = begun()
    paths, backup = workspace.replace({path: workspace.reference(path) for path in RUNS})
    workspace.state.of("00")["results"].clear()
    workspace.state.save()
    for path in paths:
        say(f"back to the starter: {workspace.shown(path)}")
    say(f"your files as they were: {shown(backup)}" if backup else
        "nothing to reset: this is the starter")
    return 0


def check():
    """Compiles and runs both programs; returns 0 if all pieces are right and the training is, too.
    Stores the result for labs/lab status."""
    workspace = begun()
    workspace.state.current = "00"
    workspace.state.save()
    results = [check_pieces(workspace), check_training(workspace)]
    result = next((each for each in (FAILED, UNFINISHED) if each in results), PASSED)
    workspace.state.record("00", [TaskResult("00", result)])
    return 0 if result == PASSED else 1


def begun():
    """Returns the workspace; raises LabError if one of the programs is not in work/."""
    workspace = Workspace()
    for path in RUNS:
        if workspace.mine(path) is None:
            raise LabError(f"{workspace.shown(path)} is missing; run: labs/lab start 0")
    return workspace


def run(workspace, path):
    """Compiles a program if its source has changed, and runs it; returns its exit code and output."""
    source = workspace.folder / workspace.name(path)
    program = source.with_suffix("")
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        command = re.search(r"^// +(g\+\+ .*)", workspace.mine(path), re.M)
        if not command:
            raise LabError(f"{workspace.shown(path)} has no line `//     g++ ...` to compile it")
        if not shutil.which("g++"):
            raise LabError("g++ is not installed; run: labs/lab setup")
        say(f"\n$ {command[1]}")
        if subprocess.run(shlex.split(command[1]), cwd=source.parent).returncode:
            return 1, ""
    command = [f"./{program.name}", *RUNS[path]]
    say(f"\n$ {shlex.join(command)}")
    ended = subprocess.run(command, cwd=source.parent, stdout=subprocess.PIPE, text=True)
    return ended.returncode, ended.stdout


def check_pieces(workspace):
    """Runs the self-test; returns UNFINISHED if only pieces are not right that are still as they were.
    Does not print what the program says of these: its explanations are answers."""
    code, output = run(workspace, SELF_TEST)
    mine = dict(PIECE.findall(workspace.mine(SELF_TEST)))
    pieces = dict(PIECE.findall(workspace.reference(SELF_TEST)))
    untried = [number for number in pieces if mine.get(number) == pieces[number]]
    is_wrong = not output  # it does not compile
    for line in output.splitlines():
        of_piece = re.match(r" ?(\d+) (?:open|wrong)", line)
        if not of_piece or of_piece[1] not in untried:
            say(line)
            is_wrong |= bool(of_piece)
    if output and untried:
        first = pieces[untried[0]].split(" --")[0]
        say_wrapped(f"not tried yet: {', '.join(untried)}; next: piece {untried[0]} of "
                    f"{workspace.shown(SELF_TEST)}, {first}", "")
    return PASSED if code == 0 else FAILED if is_wrong else UNFINISHED


def check_training(workspace):
    """Runs the training; returns whether it is right, which the program itself does not know."""
    code, output = run(workspace, TRAINING)
    print(output, end="", flush=True)
    if code:
        return FAILED
    weights = set(re.findall(r"checksum (\w+)", output))
    loss = float((re.findall(r"loss (\S+)", output) or ["nan"])[-1])
    if len(weights) != 1:
        say("wrong: the ranks have different weights")
    elif not loss < 0.3:
        say("wrong: the loss is too high")
    else:
        say("right: the ranks have equal weights, and the loss is low")
        return PASSED
    return FAILED
