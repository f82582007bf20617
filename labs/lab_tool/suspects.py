"""What an instructor should know of a submission, beyond its verdicts.

A file that includes libmini's own source with the solution passes nothing: the compiler lists the
files that it read. (An exported course has no solutions: labs/lab dev export.)

Places to read are not wrong, and cost no points: words of the learner's file, outside comments,
that are not in libmini's file. A check runs the learner's code in its own process, so code that
is written to deceive it cannot be stopped completely.
"""

import difflib
import os
import re
import subprocess

from lab_tool.check_build import PRESET
from lab_tool.places import BUILD, ROOT

MINE = re.compile(r"/mine/(\d\d)/(\S+)\.o: #deps")
WORDS = re.compile(
    r"\b(_exit|_Exit|quick_exit|exit|atexit|abort|fork|vfork|clone|exec[vl]\w*|system|popen|kill"
    r"|raise|longjmp|setsid|ptrace|syscall|dlopen|dlsym|mprotect|asm|__asm__|incbin|getenv|setenv"
    r"|signal|sigaction|Catch|CATCH\w*|catch2|OverallResult|constructor|LD_PRELOAD|MINI_TOKEN)\b"
    r"|/proc\b|#\s*(?:include_next|embed)\b|#\s*include\s*[^\s\"<]"
    r"|#\s*include\s*[\"<](?:/|[^\">]*\.(?:cpp|cu)[\">])")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
MOST_OF_A_FILE = 5
MOST_OF_A_DIFF = 40


def copied_solutions(catalogue, labs):
    """Returns {(lab, path of the learner's file): path of libmini's file with a region}."""
    solutions = {region.path for region in catalogue.regions}
    found = {}
    for (lab, path), read in (dependencies().items() if labs else ()):
        for each in read:
            if each in solutions:
                found[lab, path] = each
    return found


def dependencies(folder=BUILD / PRESET):
    """Returns {(lab, path of a learner's file): the files that were read to compile it}, as Ninja
    stored them; paths are relative to the repository."""
    done = subprocess.run(["ninja", "-C", str(folder), "-t", "deps"], capture_output=True,
                          text=True, errors="replace", stdin=subprocess.DEVNULL)
    found, files = {}, []
    for line in done.stdout.splitlines():
        mine = MINE.search(line)
        if ": #deps" in line:
            files = found.setdefault((mine[1], mine[2]), []) if mine else None
        elif files is not None and line.strip():
            path = os.path.realpath(os.path.join(folder, line.strip()))
            files.append(os.path.relpath(path, ROOT))
    return found


def suspects_of(workspace, lab):
    """Returns lines such as "work/a.cpp:12: _exit" for a lab's files."""
    found = []
    for path in workspace.catalogue.files_of(lab.number):
        mine = workspace.mine(path)
        if mine is not None:
            usual = {word for _, word in words_in(workspace.reference(path))}
            found += [f"work/{path}:{line}: {word}" for line, word in words_in(mine)
                      if word not in usual][:MOST_OF_A_FILE]
    return found


def words_in(text):
    """Returns (line, word) for each noted word of a text."""
    text = COMMENT.sub(lambda comment: "\n" * comment[0].count("\n"), text)
    return [(number, " ".join(word[0].split())) for number, line in enumerate(text.split("\n"), 1)
            for word in WORDS.finditer(line)]


def changes_of_hunt(workspace, lab):
    """Returns the learner's changes of a bug hunt, as lines of a diff. The program is a learner's
    file as a whole, so that it ends with exit code 0 proves little; the changes are few."""
    mine = workspace.mine(lab.hunt)
    if mine is None:
        return []
    lines = list(difflib.unified_diff(workspace.reference(lab.hunt).splitlines(), mine.splitlines(),
                                      lab.hunt, f"work/{lab.hunt}", lineterm="", n=0))
    more = len(lines) - MOST_OF_A_DIFF
    return lines[:MOST_OF_A_DIFF] + ([f"... {more} more lines"] if more > 0 else [])
