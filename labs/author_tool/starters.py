"""Checks that the files that labs/lab start writes compile, with -fsyntax-only."""

import json
import re
import subprocess
from pathlib import Path
from tempfile import TemporaryDirectory

from lab_tool.check_build import PRESET
from author_tool.dev_check import spread
from author_tool.rules import includers_of
from lab_tool.places import BUILD
from lab_tool.regions import HEADERS, starter

LEARNERS_FLAGS = ["-Wno-error", "-Wno-unused", "-Wno-unused-parameter"]


def compile_commands():
    """Returns {source: (words of its compile command, the batch that has it, or itself)}."""
    path = BUILD / PRESET / "compile_commands.json"
    commands = {}
    for entry in reversed(json.loads(path.read_text(encoding="utf-8"))):  # the component's: last
        words, file = entry["command"].split(), entry["file"]
        for source in sources_of_batch(Path(file)) or [file]:
            commands[source] = [source if word == file else word for word in words], file
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


def check_starters(catalogue, labs, outcome):
    """Checks that every file that labs/lab start writes for `labs` compiles. Reading the headers
    takes most of the time, so what the build compiles together is compiled together here."""
    commands = compile_commands()
    with TemporaryDirectory(prefix="lab-starters-") as folder:
        batches = {}  # {(folder of a lab's starters, batch): (words, source, files to include)}
        for lab in labs:
            own = Path(folder) / lab.number
            for path in catalogue.files_of(lab.number):
                outcome.count("starters")
                write_starter(catalogue, lab, path, own / path)
                source = source_of(catalogue.root, path, commands)
                if not source:
                    outcome.blame(f"{path} of lab {lab.number} is not part of the build")
                    continue
                words, batch = commands[source]
                is_header = path.endswith(HEADERS)
                key = own, path if is_header else batch
                included = batches.setdefault(key, (words, source, []))[2]
                included.append(source if is_header else own / path)
        for complaint in filter(None, spread(compile_batch, batches.items())):
            outcome.blame(complaint)


def write_starter(catalogue, lab, path, copy):
    copy.parent.mkdir(parents=True, exist_ok=True)
    text = (catalogue.root / path).read_text(encoding="utf-8")
    copy.write_text(starter(text, path, {task.name for task in lab.tasks}), encoding="utf-8")


def source_of(root, path, commands):
    """Returns the file of the build that has a starter: itself, or one that includes the header;
    None if there is none."""
    paths = includers_of(root, path) if path.endswith(HEADERS) else [path]
    return next((str(root / each) for each in paths if str(root / each) in commands), None)


def compile_batch(batch):
    """Returns a complaint, or None."""
    (folder, name), (words, source, included) = batch
    text = folder / f"{Path(name).stem}-{Path(source).stem}{Path(source).suffix}"
    text.write_text("".join(f'#include "{each}"\n' for each in included))
    done = subprocess.run(syntax_command(words, source, text, folder), cwd=BUILD,
                          capture_output=True, text=True, errors="replace")
    return f"the starters of lab {folder.name} do not compile:\n{done.stderr.strip()}" \
        if done.returncode else None
