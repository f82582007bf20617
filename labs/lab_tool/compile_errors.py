"""The compiler's errors; errors in the learner's files come first."""

import re
from dataclasses import dataclass

# GCC: a.cpp:3:1: error: ...; nvcc: a.cu(3): error: ...
ERROR = re.compile(r"^(/?[^\s:(]+\.(?:[ch]pp|cuh?))(?::(\d+):(?:\d+:)?|\((\d+)\):) "
                   r"(?:fatal )?error:? (.*)$")
FAILED = re.compile(r"^FAILED: (\S+)")
UNDEFINED = re.compile(r"(?:(/?[^\s:]+\.[ch]pp):(\d+): )?(undefined reference to .*?);?$")
REQUIRED = re.compile(r"(required for the satisfaction of .*)$")
SOURCE = re.compile(r"^ *\d* \|")
TWICE = re.compile(r"(multiple definition of .*?'); .*/(work/.*?\.cpp):(\d+): first defined here$")


@dataclass(frozen=True)
class CompileError:
    path: str  # in the repository, "work/..." for the learner's; "" for the linker
    line: int
    message: str
    context: tuple = ()  # the source line and the caret under it

    def spelled(self):
        head = f"{self.path}:{self.line}: {self.message}" if self.path else self.message
        return [head, *self.context]


def errors_in(lines, root):
    """Returns the errors in a build's output, each once, the learner's first."""
    found = {}
    for index, line in enumerate(lines):
        match = ERROR.match(line)
        undefined, twice = UNDEFINED.search(line), TWICE.search(line)
        if match:
            context = tuple(text for text in lines[index + 1:index + 3] if SOURCE.match(text))
            context += broken_constraint(lines[index + 1:])
            path, line = shortened(match[1], root), int(match[2] or match[3])
            error = CompileError(path, line, match[4], context)
            found.setdefault((error.path, error.line, error.message), error)
        elif undefined:
            path, line = shortened(undefined[1] or "", root), int(undefined[2] or 0)
            found.setdefault(undefined[3], CompileError(path, line, undefined[3]))
        elif twice:
            found.setdefault(twice[1], CompileError(twice[2], int(twice[3]), twice[1]))
    return sorted(found.values(), key=lambda error: not error.path.startswith("work/"))


def shortened(path, root):
    """Returns a path relative to the repository. Compilers print it relative to the root or to the
    build folder, linkers print both together."""
    return path.split("../" * 2)[-1].removeprefix(f"{root}/")


def broken_constraint(following):
    """Returns an error's notes on an unsatisfied concept: its name, and the source lines of its
    definition, with the allowed types."""
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
    """Returns hints on the causes of a function that is defined twice."""
    twice = [error for error in errors if error.message.startswith("multiple definition")]
    if not twice:
        return []
    path = twice[0].path
    return [f"Is {path} a copy of another file of work/? Then delete it.",
            "Or does it lack a function that libmini's own file has? Then both are linked; see:",
            f"  diff {path.removeprefix('work/')} {path}"]
