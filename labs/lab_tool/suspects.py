"""Places in a submission that an instructor should read.

A check runs the learner's code in its own process, so code that is written to deceive it cannot be
stopped completely. These places are not wrong: a note costs no points. A word is noted if it is in
the learner's file, outside comments, and not in libmini's file.
"""

import difflib
import re

WORDS = re.compile(
    r"\b(_exit|_Exit|quick_exit|exit|atexit|abort|fork|vfork|clone|exec[vl]\w*|system|popen|kill"
    r"|raise|longjmp|setsid|ptrace|syscall|dlopen|dlsym|mprotect|asm|__asm__|incbin|getenv|setenv"
    r"|signal|sigaction|Catch|CATCH\w*|catch2|OverallResult|constructor|LD_PRELOAD|MINI_SEAL)\b"
    r"|/proc\b|#\s*(?:include_next|embed)\b|#\s*include\s*[^\s\"<]"
    r"|#\s*include\s*[\"<](?:/|[^\">]*\.(?:cpp|cu)[\">])")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)
MOST_OF_A_FILE = 5
MOST_OF_A_DIFF = 40


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
