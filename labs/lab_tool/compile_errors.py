"""The compiler's errors; errors in the learner's files come first."""

import re
from dataclasses import dataclass

from lab_tool.link_errors import link_error, shortened

# GCC: a.cpp:3:1: error: ...; nvcc: a.cu(3): error: ...
ERROR = re.compile(r"^(/?[^\s:(]+\.(?:[ch]pp|cuh?))(?::(\d+):(?:\d+:)?|\((\d+)\):) "
                   r"(?:fatal )?error:? (.*)$")
FAILED = re.compile(r"^FAILED: (\S+)")
REQUIRED = re.compile(r"(required for the satisfaction of .*)$")
LINKERS = ("undefined reference to", "multiple definition of")
SOURCE = re.compile(r"^ *\d* \|")


@dataclass(frozen=True)
class CompileError:
    path: str  # in the repository, "work/..." for the learner's; "" for the linker
    line: int  # 0: not known
    message: str
    context: tuple = ()  # the source line and the caret under it

    @property
    def is_of_linker(self):
        return self.message.startswith(LINKERS)

    def spelled(self):
        place = f"{self.path}:{self.line}: " if self.line else f"{self.path}: "
        return [f"{place if self.path else ''}{self.message}", *self.context]


def errors_in(lines, root):
    """Returns the errors in a build's output, each once, the learner's first."""
    found = {}
    for index, line in enumerate(lines):
        match = ERROR.match(line)
        link = link_error(lines, index, root)
        if link:
            found.setdefault(link[2], CompileError(*link))
        elif match:
            context = tuple(text for text in lines[index + 1:index + 3] if SOURCE.match(text))
            context += broken_constraint(lines[index + 1:])
            path, line = shortened(match[1], root), int(match[2] or match[3])
            error = CompileError(path, line, match[4], context)
            found.setdefault((error.path, error.line, error.message), error)
    return sorted(found.values(), key=lambda error: not error.path.startswith("work/"))


def broken_constraint(following):
    """Returns an error's notes on an unsatisfied concept: the concept's name, and the
    source lines of its definition, which show the allowed types."""
    told = ()
    for line in following:
        required = REQUIRED.search(line)
        if ERROR.match(line) or FAILED.match(line):
            break
        if required:
            told = (f"  {required[1]}:",)
        elif told and re.match(r"^ *\d+ \|", line):
            told += (line,)
        elif told and not SOURCE.match(line) and "satisfied" not in line:
            break
    return told


def broken_files(lines, root):
    """Returns the learner's files that did not compile: "07/libmini/a.cpp" of lab 07's check.

    Ninja names the object file: an error in an included header counts as an error of the file
    that includes it."""
    broken = []
    for line in lines:
        match = FAILED.match(line)
        if match and "/mine/" in match[1] and match[1].endswith(".o"):
            broken.append(match[1].split("/mine/", 1)[1].removesuffix(".o"))
    return list(dict.fromkeys(broken))


def advice(errors):
    """Returns lines of advice if a function of the learner is defined twice, else an empty list."""
    twice = [error.path for error in errors if error.message.startswith("multiple definition")
             and error.path.startswith("work/")]
    if not twice:
        return []
    return ["A function may be defined once in a program. If two files of work/ define it, keep it",
            f"in the file of its task; if libmini's own file does, delete it in {twice[0]}."]
