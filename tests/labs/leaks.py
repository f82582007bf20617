"""Searches an exported course for the solutions: no region's code may be readable in it.

Two searches, since each finds what the other one misses:

    lines     every code line of a region with at least LONG_LINE characters
    tokens    every run of TOKENS tokens of a region, whatever its line breaks and spaces

Lines and runs that other code of libmini has too are no secret: `for (int r = 0; r < ranks; ++r)`.
"""

import re

from author_tool import repairs
from author_tool.export import FOLD, is_answer
from lab_tool.regions import with_bodies

LONG_LINE = 24
TOKENS = 20
TOKEN = re.compile(r"[A-Za-z_]\w*|\d[\w.']*|\"(?:\\.|[^\"\\\n])*\"|\S")
COMMENT = re.compile(r"//[^\n]*|/\*.*?\*/", re.DOTALL)


def leaks_of(export, texts=None):
    """Returns complaints about the texts of an Export: code of its regions, answers of its pages."""
    texts = texts or export.texts()
    return (leaks_in(texts, secret_regions(export), public(export))
            + answers_in(texts, secret_answers(export)))


def secret_regions(export):
    return [region for region in export.catalogue.regions
            if region.lab in export.numbers or export.is_object_only(region.path)]


def secret_answers(export):
    """Returns {where an answer is from: its text}: answers of pages, and lines of repairs that the
    hunt's program has not."""
    secret = {}
    for lab in export.labs:
        for path in lab.pages:
            page = path.read_text(encoding="utf-8")
            for number, fold in enumerate(FOLD.finditer(page)):
                if is_answer(page, fold):
                    secret[f"{lab.folder.name}/{path.name}, fold {number + 1}"] = body_of(fold[0])
        for repair in repairs.read_repairs(export.catalogue.root, lab) if lab.hunt else ():
            secret[repair.place] = "\n".join(line[1:] for line in repair.lines if line[0] == "+")
    return secret


def body_of(fold):
    """Returns the text of a fold, not indented."""
    text = re.sub(r"</?details>|<summary>.*?</summary>", "", fold, flags=re.DOTALL)
    return "\n".join(line.removeprefix("   ") if not line.startswith("    ") else line
                     for line in text.strip("\n").split("\n")).strip()


def public(export):
    """Returns the texts of libmini's files without the regions' code and without hints: what they
    say is no secret."""
    for path in export.tracked:
        if export.is_kept(path) and "/hints/" not in path:
            text = (export.catalogue.root / path).read_text(encoding="utf-8")
            yield with_bodies(text, path, lambda region: []) if path in export.catalogue.lab_of else text


def leaks_in(files, regions, public):
    """Returns complaints about files. `files`: {path: text} of the course; `regions`: those whose
    code must not be in it; `public`: texts that may be known, without the regions' code."""
    secret = {}
    for region in regions:
        secret |= dict.fromkeys(parts_of(code_of(region)), region)
    for text in public:
        for part in parts_of(text):
            secret.pop(part, None)
    found = {}
    for path, text in files.items():
        for part in filter(secret.__contains__, parts_of(text)):
            found[path, secret[part].task] = part if isinstance(part, str) else " ".join(part)
    return [f"{path} has code of task {task}: {what}" for (path, task), what in found.items()]


def answers_in(files, answers):
    """Returns complaints about pages (.md) with an answer. `answers`: {name: text}. A paragraph of
    an answer, or a long line of its code, is found whatever its line breaks and spaces; lines that
    a source has are no secret."""
    secret = {}
    for name, text in answers.items():
        for paragraph in re.split(r"\n\s*\n", text):
            is_code = all(line.startswith("    ") for line in paragraph.split("\n") if line)
            parts = paragraph.split("\n") if is_code else [paragraph]
            secret.update({flat(part): name for part in parts if len(part.strip()) >= LONG_LINE})
    pages = {path: flat(text) for path, text in files.items() if path.endswith(".md")}
    sources = "\n".join(flat(text) for path, text in files.items() if path not in pages)
    return [f"{path} has the answer of {name}: {part}" for part, name in secret.items()
            for path, text in pages.items() if part in text and part not in sources]


def flat(text):
    return " ".join(text.split())


def code_of(region):
    return "\n".join(region.body)


def parts_of(text):
    """Yields the long lines of a text, and its runs of tokens, without comments."""
    text = COMMENT.sub("", text)
    lines = (" ".join(line.split()) for line in text.split("\n"))
    yield from (line for line in lines if len(line) >= LONG_LINE)
    found = TOKEN.findall(text)
    yield from zip(*(found[i:] for i in range(TOKENS)))
