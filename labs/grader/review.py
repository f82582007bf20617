"""Names what an instructor should read in a submission, because honest work seldom has it. It changes no
points, since each finding may have a good reason:

    work/07-partition/partition.cpp:9 has Catch::   libmini's file has it not
    ... has 3 of 60 lines of the hunt               replaced, not repaired
    ... has another main than the hunt: return 0;   no repair changes main, which tests
    ... has 12 of 13 lines of the guided frame      graded as from nothing"""

import re
from os.path import commonprefix

from lab_tool.projection import files_of

STRANGE = re.compile(
    r"\bnamespace\s+Catch\b|\bCatch::|\bTEST_CASE\w*|\bCATCH_\w+"
    r"|\.incbin|\basm\b|\b__asm\w*|\bMINI_(?:TOKEN|MUTANT)\b|/proc/"
    r"|\b_*(?:at|quick_|at_quick_)?[eE]xit\s*\(|\bexec[lv]\w*\s*\(|\bdl(?:open|sym)\b"
    r"|#\s*include\s+\S+\.(?:cpp|cu|o)\b")
MAIN = re.compile(r"\bmain\s*\(")
LEAST_LINES, LEAST_LETTERS = 5, 20  # of a frame, and of a line that is compared
NO_LINE = ("namespace", "}", "[lab", "MINI_TODO", '"')  # shared by all files, or by no solution


def findings(workspace, lab):
    """Yields one line for each finding in the files of work/ of a lab."""
    hunt = {lab.hunt: workspace.name(lab.hunt)} if lab.hunt and workspace.mine(lab.hunt) else {}
    for path, name in (files_of(workspace, {lab.number}) | hunt).items():
        text = (workspace.folder / name).read_text(encoding="utf-8", errors="replace")
        known = workspace.reference(path) if (workspace.root / path).exists() else ""
        for number, line in enumerate(text.split("\n"), 1):
            for found in STRANGE.finditer(line):
                if found[0] not in known:
                    yield f"work/{name}:{number} has {found[0]}"
        mine = long_lines(text)
        if path in hunt:
            whole = long_lines(known)
            if 2 * len(whole & mine) < len(whole):
                yield f"work/{name} has {len(whole & mine)} of {len(whole)} lines of the hunt"
            words, before = words_of_main(text), words_of_main(known)
            if words != before:
                same = len(commonprefix([words, before]))
                yield f"work/{name} has another main than the hunt: {' '.join(words[same:][:6])}"
        elif known and workspace.is_core(path) and workspace.is_whole(path):
            whole = long_lines(workspace.starter(path, guided=True)) - long_lines(workspace.starter(path))
            if len(whole) >= LEAST_LINES and 2 * len(whole & mine) > len(whole):
                yield f"work/{name} has {len(whole & mine)} of {len(whole)} lines of the guided frame"


def words_of_main(text):
    """Returns what follows "main(" up to the end of a hunt, without comments and line breaks. It
    prints and tests what the functions above it compute, and no repair changes it."""
    _, *rest = MAIN.split(re.sub("//.*", "", text), maxsplit=1)
    return " ".join(rest).split()


def long_lines(text):
    """Returns the lines that two files do not share by chance, without comment marks and braces."""
    lines = (line.strip("/ {") for line in text.split("\n"))
    return {line for line in lines if len(line) >= LEAST_LETTERS and not line.startswith(NO_LINE)}
