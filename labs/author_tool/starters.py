"""Checks that the files that labs/lab start writes compile, with -fsyntax-only. Reading the headers
takes most of the time, so what the build compiles together is compiled together here."""

import json
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from lab_tool.check_build import PRESET
from author_tool.dev_check import spread
from lab_tool.places import BUILD
from lab_tool.regions import HEADERS, starter

LEARNERS_FLAGS = ["-Wno-error", "-Wno-unused", "-Wno-unused-parameter", "-fsyntax-only"]


def compile_commands():
    """Returns {source: (words of the compile command, the file that has it: a batch, or itself)}."""
    path = BUILD / PRESET / "compile_commands.json"
    commands = {}
    for entry in reversed(json.loads(path.read_text(encoding="utf-8"))):  # the component's: last
        for source in sources_of_batch(Path(entry["file"])) or [entry["file"]]:
            commands[source] = entry["command"].split(), entry["file"]
    return commands


def sources_of_batch(file):
    """Returns the sources that a batch, a file that CMake generates, includes; else []."""
    if file.parent.name != "Unity":
        return []
    return re.findall(r'^#include "(.*)"$', file.read_text(encoding="utf-8"), re.MULTILINE)


def check_starters(catalogue, labs, outcome):
    """Checks that every file that labs/lab start writes for `labs` compiles. A header is compiled like
    a source of its folder."""
    commands = compile_commands()
    with TemporaryDirectory(prefix="lab-starters-") as folder:
        batches = {}  # {(folder of a lab's starters, file with a command): (its words, starters)}
        for lab in labs:
            own = Path(folder) / lab.number
            for path in catalogue.files_of(lab.number):
                outcome.count("starters")
                original, copy = catalogue.root / path, own / path
                copy.parent.mkdir(parents=True, exist_ok=True)
                copy.write_text(starter(original.read_text(encoding="utf-8"), path), encoding="utf-8")
                sources = sorted(map(str, original.parent.iterdir())) if path.endswith(
                    HEADERS) else [str(original)]
                known = [commands[source] for source in sources if source in commands]
                if not known:
                    outcome.blame(f"{path} of lab {lab.number} is not part of the build")
                    continue
                words, file = known[0]
                batches.setdefault((own, file), (words, original.parent, []))[2].append(copy)
        for complaint in filter(None, spread(compile_batch, batches.items())):
            outcome.blame(complaint)


def compile_batch(batch):
    """Returns a complaint, or None."""
    (folder, file), (words, place, starters) = batch
    text = folder / f"{abs(hash(file))}{Path(file).suffix}"
    text.write_text("".join(f'#include "{each}"\n' for each in starters))
    command = [*words[:2], f"-I{folder}", *[text if word == file else word for word in words[2:]],
               f"-I{place}", *LEARNERS_FLAGS]
    done = subprocess.run(command, cwd=BUILD / PRESET, capture_output=True, text=True,
                          errors="replace")
    return f"the starters of lab {folder.name} do not compile:\n{done.stderr.strip()}" \
        if done.returncode else None
