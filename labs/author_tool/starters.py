"""Checks that the files that labs/lab start writes compile, with -fsyntax-only."""

import json
import re
import subprocess
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory

from lab_tool.check_build import PRESET
from author_tool.dev_check import spread
from author_tool.rules import includers_of
from lab_tool.places import BUILD
from lab_tool.regions import HEADERS
from lab_tool.regions import starter as starter_text

LEARNERS_FLAGS = ["-Wno-error", "-Wno-unused", "-Wno-unused-parameter"]


@dataclass(frozen=True)
class Compiled:
    """How the build compiles a source."""

    words: tuple  # of the command, with the source in place of its batch
    file: str  # the batch, or the source itself


def compile_commands():
    """Returns {source: Compiled}."""
    path = BUILD / PRESET / "compile_commands.json"
    commands = {}
    for entry in reversed(json.loads(path.read_text(encoding="utf-8"))):  # the component's comes last
        words, file = entry["command"].split(), entry["file"]
        for source in sources_of_batch(Path(file)) or [file]:
            own = tuple(source if word == file else word for word in words)
            commands[source] = Compiled(own, file)
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
    """Checks that every file that labs/lab start writes for `labs` compiles."""
    commands = compile_commands()
    with TemporaryDirectory(prefix="lab-starters-") as folder:
        batches = {}
        for lab in labs:
            for path in catalogue.files_of(lab.number):
                starter = write_starter(catalogue, lab, path, Path(folder), commands)
                batches.setdefault((lab.number, starter.batch), []).append(starter)
        complaints = spread(compile_batch, batches.values())
        outcome.count("starters", sum(map(len, batches.values())))
        for complaint in filter(None, complaints):
            outcome.blame(complaint)


@dataclass(frozen=True)
class Starter:
    lab: str
    path: str  # in the repository
    folder: Path  # of the lab's starters
    source: str  # the file itself; for a header, a file of the build that includes it
    compiled: Compiled  # of the source; None if it is not part of the build

    @property
    def batch(self):
        """What the build compiles together: several starters of a lab, or one."""
        return self.path if self.is_header or not self.compiled else self.compiled.file

    @property
    def is_header(self):
        return self.path.endswith(HEADERS)

    def text_path(self):
        return self.source if self.is_header else self.folder / self.path

    def compile(self, text_path):
        """Returns the compiler's errors, "" if there are none."""
        command = syntax_command(self.compiled.words, self.source, text_path, self.folder)
        done = subprocess.run(command, cwd=BUILD, capture_output=True, text=True, errors="replace")
        return "" if done.returncode == 0 else done.stderr.strip()


def write_starter(catalogue, lab, path, folder, commands):
    root, folder = catalogue.root, folder / lab.number
    copy = folder / path
    copy.parent.mkdir(parents=True, exist_ok=True)
    text = (root / path).read_text(encoding="utf-8")
    copy.write_text(starter_text(text, path, {task.name for task in lab.tasks}), encoding="utf-8")
    source = str(root / path)
    if path.endswith(HEADERS):
        including = (str(root / each) for each in includers_of(root, path))
        source = next((each for each in including if each in commands), source)
    return Starter(lab.number, path, folder, source, commands.get(source))


def compile_batch(starters):
    """Returns a complaint, or "". Reading the headers takes most of the time, so the
    starters of a batch are compiled together, and only after an error one by one."""
    first = starters[0]
    if not first.compiled:
        return f"{first.path} of lab {first.lab} is not part of the build"
    errors = first.compile(text_of_batch(starters))
    if not errors:
        return ""
    for starter in starters:
        alone = starter.compile(starter.text_path())
        if alone:
            return f"the starter of lab {starter.lab}, {starter.path}, does not compile:\n{alone}"
    return f"the starters of lab {first.lab} do not compile together:\n{errors}"


def text_of_batch(starters):
    """Returns the path of a file that includes all starters; the starter's own if it is one."""
    if len(starters) == 1:
        return starters[0].text_path()
    path = starters[0].folder / f"{'-'.join(Path(each.path).stem for each in starters)}.cpp"
    path.write_text("".join(f'#include "{each.text_path()}"\n' for each in starters))
    return path
