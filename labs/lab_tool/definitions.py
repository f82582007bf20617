"""The functions that a source defines, found in its text: libmini's files are formatted, so a
definition begins in column 0, and ends with a brace in column 0."""

import re
from dataclasses import dataclass

NO_FUNCTION = re.compile(r"(?:namespace|using|typedef|struct|class|enum|union|static_assert"
                         r"|friend)\b|template [^<]")
NAME = re.compile(r"(operator *(?:\(\)|[^\s\w(]+|\w[\w: ]*)|~?[A-Za-z_][\w:~]*) *\(")
INSTANTIATION = re.compile(r"^template (?:(?:class|struct) ([\w:]+)<"
                           r"|[^<(;][^(;]*?([\w:]+)(?:<[^()]*>)? *\()", re.MULTILINE)


@dataclass(frozen=True)
class Definition:
    name: str  # as written: "Reducer::mark_ready"
    first: int  # its first line, counted from 0
    last: int


def defined_in(text):
    """Returns the Definitions of functions at the level of namespaces."""
    found, lines, begun = [], text.split("\n"), None
    for number, line in enumerate(lines):
        if begun is None and re.match(r"[A-Za-z_~:\[]", line) and not NO_FUNCTION.match(line):
            begun = number
        if begun is None:
            continue
        code = line.split("//")[0].rstrip()
        if line.startswith("}") or code.endswith("= default;") or (
                begun == number and code.endswith("}")):
            name = name_in(" ".join(lines[begun:number + 1]))
            found += [Definition(name, begun, number)] if name else []
            begun = None
        elif code.endswith(";") and not any("{" in each for each in lines[begun:number + 1]):
            begun = None  # a declaration
    return found


def name_in(signature):
    match = NAME.search(without_templates(signature.split("{")[0]))
    return match[1].replace(" ", "") if match else ""


def without_templates(text):
    """Returns a text without what stands in angle brackets."""
    while True:
        shorter = re.sub(r"<[^<>]*>", "", text)
        if shorter == text:
            return text
        text = shorter


def short_name(demangled):
    """Returns a function's name without arguments, return type and template arguments:
    "mini::Tensor::from" of "mini::Tensor mini::Tensor::from<float>(...)"."""
    match = NAME.search(without_templates(demangled.replace("(anonymous namespace)::", "")))
    return match[1] if match else demangled


def instantiations_in(text):
    """Returns the names of explicit instantiations of functions and classes."""
    return [match[1] or match[2] for match in INSTANTIATION.finditer(text)]
