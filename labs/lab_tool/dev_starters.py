"""Checks that the files that labs/lab start writes compile, with -fsyntax-only."""

import json
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from lab_tool.check_build import PRESET
from lab_tool.dev_check import spread
from lab_tool.includers import includers_of
from lab_tool.places import BUILD
from lab_tool.regions import HEADERS, starter

LEARNERS_FLAGS = ["-Wno-error", "-Wno-unused", "-Wno-unused-parameter"]


def compile_commands():
    """Returns {source: words of its compile command}. A source of a batch has the batch's command,
    with the source in its place."""
    path = BUILD / PRESET / "compile_commands.json"
    commands = {}
    for entry in reversed(json.loads(path.read_text(encoding="utf-8"))):  # the room's comes last
        words, file = entry["command"].split(), entry["file"]
        for source in sources_of_batch(Path(file)) or [file]:
            commands[source] = [source if word == file else word for word in words]
    return commands


def sources_of_batch(file):
    """Returns the sources that a batch, a file that CMake generates, includes; else []."""
    if file.parent.name != "Unity":
        return []
    return re.findall(r'^#include "(.*)"$', file.read_text(encoding="utf-8"), re.MULTILINE)


def syntax_command(words, source, text_path, folder):
    """Converts a compile command of `source` into a syntax check of the file `text_path`, with
    the headers of `folder` first."""
    command, skip = [], False
    for word in words:
        if skip or word in ("-c", source) or word.endswith("ccache"):
            skip = False
            continue
        if word in ("-o", "-MF", "-MT"):
            skip = True
            continue
        command.append(word)
    command.insert(1, f"-I{folder}")
    return [*command, *LEARNERS_FLAGS, f"-I{Path(source).parent}", "-fsyntax-only", str(text_path)]


def check_starters(catalogue, outcome):
    """Checks that every file that labs/lab start writes compiles."""
    commands = compile_commands()
    with TemporaryDirectory(prefix="lab-starters-") as folder:
        jobs = []
        for lab in catalogue.labs:
            jobs += [(lab, path, write_starter(catalogue, lab, path, Path(folder)))
                     for path in catalogue.files_of(lab.number)]

        def compile_one(job):
            lab, path, copy = job
            return compile_starter(catalogue.root, path, copy, Path(folder) / lab.number, commands)

        for (lab, path, _), complaint in zip(jobs, spread(compile_one, jobs)):
            outcome.count("starters")
            if complaint:
                outcome.blame(f"the starter of lab {lab.number}, {path}, does not compile:\n"
                              f"{complaint}")


def write_starter(catalogue, lab, path, folder):
    tasks = {task.name for task in lab.tasks}
    copy = folder / lab.number / path
    copy.parent.mkdir(parents=True, exist_ok=True)
    text = (catalogue.root / path).read_text(encoding="utf-8")
    copy.write_text(starter(text, path, tasks), encoding="utf-8")
    return copy


def compile_starter(root, path, copy, folder, commands):
    """Returns a starter's errors as text, "" if there are none. For a header, compiles a
    file of the build that includes it. `folder` has all starters of the lab."""
    source, text_path = path, copy
    if path.endswith(HEADERS):
        source = next((each for each in includers_of(root, path) if str(root / each) in commands),
                      path)
        text_path = root / source
    words = commands.get(str(root / source))
    if words is None:
        return f"{path} is not part of the build"
    command = syntax_command(words, str(root / source), text_path, folder)
    done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, errors="replace")
    return "" if done.returncode == 0 else done.stderr.strip()
