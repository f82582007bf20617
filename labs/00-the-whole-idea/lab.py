"""What labs/lab start 0 and labs/lab check 0 do. Lab 00 has no tasks: its two programs are files that
need nothing of libmini, and each has the command that compiles it in its first lines."""

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).resolve().parent
sys.path.insert(0, str(FOLDER.parent))

from lab_tool.state import State  # noqa: E402
from lab_tool.verdict import FAILED, PASSED  # noqa: E402

WORK = FOLDER.parents[1] / "work" / FOLDER.name
RUNS = {"self_test": [], "mini_ddp": ["ranks=2", "epochs=2"]}  # each program's arguments


def start():
    """Copies the two programs to work/; keeps copies that are there."""
    WORK.mkdir(parents=True, exist_ok=True)
    print("lab 00 · The whole idea\n  read   labs/00-the-whole-idea/README.md")
    for name in RUNS:
        copy = WORK / f"{name}.cpp"
        if not copy.exists():
            shutil.copyfile(FOLDER / copy.name, copy)
        print(f"  change work/{FOLDER.name}/{copy.name}")
    print("  check  labs/lab check 0")
    return 0


def check():
    """Compiles and runs both programs; returns 0 if all pieces are right and the training is, too.
    Stores the result for labs/lab status."""
    failed = max([judge(name, *run(name)) for name in RUNS])
    state = State()
    state.of("00")["results"]["00"] = FAILED if failed else PASSED
    state.save()
    return failed


def run(name):
    """Compiles a program if its source has changed, and runs it; returns its exit code and output."""
    source, program = WORK / f"{name}.cpp", WORK / name
    if not source.exists():
        sys.exit(f"lab: work/{FOLDER.name}/{source.name} is missing; run: labs/lab start 0")
    if not program.exists() or program.stat().st_mtime < source.stat().st_mtime:
        command = re.search(r"^// +(g\+\+ .*)", source.read_text(encoding="utf-8"), re.M)
        command = command or sys.exit(f"lab: {source.name} has no line `//     g++ ...` to compile it")
        print(f"\n$ {command[1]}", flush=True)
        if subprocess.run(shlex.split(command[1]), cwd=WORK).returncode:
            return 1, ""
    print("\n$", *(command := [f"./{name}", *RUNS[name]]), flush=True)
    ended = subprocess.run(command, cwd=WORK, stdout=subprocess.PIPE, text=True)
    print(ended.stdout, end="", flush=True)
    return ended.returncode, ended.stdout


def judge(name, code, output):
    """Says what is wrong with a run of mini_ddp, which the program itself does not notice."""
    if name == "mini_ddp" and not code:
        weights = set(re.findall(r"checksum (\w+)", output))
        loss = float(re.findall(r"loss (\S+)", output)[-1])
        code = len(weights) != 1 or not loss < 0.3
        print("wrong: the ranks have different weights" if len(weights) != 1 else
              "wrong: the loss is too high" if code else "right: the ranks have equal weights, "
              "and the loss is low")
    return int(code != 0)


if __name__ == "__main__":
    try:
        sys.exit({"start": start, "check": check}[sys.argv[1]]())
    except KeyboardInterrupt:
        sys.exit("lab: stopped")
