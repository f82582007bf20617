"""The empty form of a core: its includes, and the signatures of the functions to define, as a comment.

The signatures are those of the reference's functions that its header declares: the header of the same
name or, if there is none, the headers that it includes. A private function is one of them only if
it overrides another: other private functions are the learner's own business."""

import re
from pathlib import PurePath

from lab_tool.not_written import INSTANTIATION, defined_in
from lab_tool.regions import HEADERS, core_in

INCLUDED = re.compile(r'^#include "([^"]+)"', re.MULTILINE)
COMMENT = re.compile(r"//[^\n]*")
PRIVATE = re.compile(r"^( *)  private:\n.*?(?=^\1(?:\};|  (?:public|protected):))", re.M | re.S)
END = re.compile(r"\s*(?:\{|\n? +: |= default|;)")  # of a signature
NAMESPACE = re.compile(r"^namespace ([\w:]+) \{", re.MULTILINE)


def empty_form(root, path):
    text = (root / path).read_text(encoding="utf-8")
    head = "\n".join(text.split("\n")[:core_in(text, path)[0]]).rstrip("\n")
    declared = "\n".join(map(declarations, [(root / name).read_text(encoding="utf-8")
                                            for name in headers_of(root, path)]))
    space = NAMESPACE.search(text)
    lines = [f"Define these functions{f' of namespace {space[1]}' if space else ''}; the headers say "
             "what they do:"]
    for signature in signatures(text, declared):
        lines += ["", *("    " + line for line in signature.split("\n"))]
    return "\n".join([head, "", *(f"// {line}".rstrip() for line in lines), ""])


def headers_of(root, path):
    own = [str(PurePath(path).with_suffix(suffix)) for suffix in HEADERS]
    included = INCLUDED.findall((root / path).read_text(encoding="utf-8"))
    return [name for name in own if (root / name).is_file()] or [
        name for name in included if (root / name).is_file()]


def declarations(header):
    """Returns what a header declares, without comments, and of private parts only what overrides."""
    return PRIVATE.sub(lambda part: ";".join(each for each in part[0].split(";")
                                             if " override" in each), COMMENT.sub("", header))


def signatures(text, declared):
    """Returns the signatures of a source's functions that `declared` has, as the source writes them."""
    lines = text.split("\n")
    for each in defined_in(text):
        name = each.name.split("::")[-1]
        if re.search(rf"(?<![\w:]){re.escape(name)}\s*\(", declared):
            yield END.split("\n".join(lines[each.first:each.last + 1]), maxsplit=1)[0]
    yield from (line for line in lines if INSTANTIATION.match(line))
