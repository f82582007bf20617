#!/usr/bin/env python3
"""Doxygen's input filter: translates the comment style of libmini's headers for Doxygen.

A margin comment documents the declaration on its line:

    int rank = 0;  // of this process        becomes        int rank = 0;  ///< of this process

A contract holds for all declarations below it, up to the next blank line; its first paragraph is
repeated before the second and each further declaration. The head of a file documents the file, and
also the class that its first line names, if that class has no contract of its own. SGDOptions is
documented as the options of SGD. Each declaration keeps its line number, so that Doxygen's links to
lines are correct.
"""

import re
import sys

from markdown import for_doxygen

BESIDE = re.compile(r"^(\s*(?:[^/\s].*[;,{}]|\w+))(\s+)// (?=\S)")
CONTRACT = re.compile(r"^(\s*)///(?!<) ?(.*)$")
ENDS = re.compile(r"[;}](\s*//.*)?$")
TYPE = re.compile(r"^(?:class|struct) (\w+)(?: final)?(?: : [^;]*)?(?: \{.*)?$")
DOTS = re.compile(r"(\.\.) ")  # Doxygen takes the last dot for the end of a sentence
NO_DECLARATION = re.compile(r"\s*(//|#|\}|\{|\)|(public|protected|private):)")


def indent_of(line):
    return len(line) - len(line.lstrip())


def first_paragraph(contract):
    paragraph = []
    for line in contract:
        if not line.strip() or line.startswith("    "):
            break
        paragraph.append(line.strip())
    return " ".join(paragraph)


def block(text):
    """Returns a contract as a comment on one line. A single sentence is marked \\brief, even if it
    contains dots."""
    text = DOTS.sub(r"\1\\ ", text)
    brief = "" if re.search(r"\. [A-Z`]", text) else "\\brief "
    return f"/** {brief}{text} */"


def repeated(lines):
    """Returns the lines, with a contract's first paragraph repeated before each further declaration."""
    out, contract, indent, ended = [], [], None, False
    for line in lines:
        match = CONTRACT.match(line)
        if match:
            if indent is not None:  # a new contract
                contract, indent = [], None
            contract.append(match[2])
        elif not line.strip():
            contract, indent = [], None
        elif contract and indent is None:
            indent, ended = indent_of(line), bool(ENDS.search(line))
        elif contract and indent_of(line) < indent:
            contract, indent = [], None
        elif contract and indent_of(line) == indent:
            starts = ended and not NO_DECLARATION.match(line) and "///<" not in line
            ended = bool(ENDS.search(line))
            if starts:
                line = f"{line[:indent]}{block(first_paragraph(contract))} {line.lstrip()}"
        elif contract and ENDS.search(line) and not ended and indent_of(line) > indent:
            ended = line.rstrip().endswith(";")  # the last line of a long declaration
        out.append(line)
    return out


def file_head(lines):
    """Returns the lines of the comment at the beginning of the file, without the slashes."""
    head = []
    for line in lines:
        if not line.startswith("//"):
            break
        head.append(line[3:])
    return head


def types_told(lines):
    """Returns the lines, with a contract added for each type that has none, if the file's head or the
    type's name explains the type."""
    head = file_head(lines)
    out = []
    for before, line in zip(["", *lines], lines):
        match = TYPE.match(line)
        if match and not before.startswith(("///", "template")):
            name = match[1]
            if name.endswith("Options"):
                line = f"{block('The options of ' + name.removesuffix('Options') + '.')} {line}"
            elif head and re.search(rf"\b{name}\b", head[0]):
                line = f"{block(first_paragraph(head))} {line}"
        out.append(line)
    return out


def head_told(lines):
    """Returns the lines, with the head as the documentation of the file. This comment is as many lines
    long as the head and the blank line after it."""
    head = file_head(lines)
    if not head or lines[len(head)].strip():
        return lines
    text = [line if line.startswith("    ") else line.replace("<", "\\<")
            for line in for_doxygen("\n".join(head)).split("\n")]
    return ["/** \\file", *text[:-1], text[-1] + " */", *lines[len(head) + 1:]]


def filtered(text):
    lines = [BESIDE.sub(r"\1\2///< ", line) for line in text.split("\n")]
    lines = [DOTS.sub(r"\1\\ ", line) if CONTRACT.match(line) else line for line in lines]
    return "\n".join(head_told(types_told(repeated(lines))))


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        sys.stdout.write(filtered(header.read()))
