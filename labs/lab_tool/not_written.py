"""Stubs for the functions that a learner's files do not define. The build runs it (MiniOverlay):

    python3 -m lab_tool.not_written build/release/not_written/check07_data.txt

    mine      the learner's objects
    theirs    the objects of libmini's files that they replace, with all the functions
    stubs     the source that is written: each function that only `theirs` defines throws
              NotImplemented, with the names of the function and of its task
    rest      an object with what else the learner's objects lack: the virtual tables of classes
              whose first virtual function is not written. It is empty if they lack none

So the linker takes nothing else from `theirs`: a file that is empty passes no check, and the tasks
of the other files are checked."""

import os
import re
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

from lab_tool.places import ROOT, work_name
from lab_tool.regions import core_in, regions_in
from lab_tool.screen import LabError

HEAD = """\
// Written by labs/lab_tool/not_written.py: the functions that the files in work/ do not define.

#include <cstdio>

#include "libmini/core/error.hpp"

"""
# It prints, too: the caller may expect an error, or be a thread whose errors others do not see.
STUB = """\
extern "C" {{
void not_written_{number}() __asm__("{symbol}");
void not_written_{number}() {{
    static const int told = std::fputs(
        "[lab{tasks}] not started: {file} does not define {name}\\n", stderr);
    static_cast<void>(told);
    MINI_TODO("lab{tasks}",
              "{file} does not define {name}");
}}
}}
"""
VARIABLES = "BDR"  # nm's letters
CLASS_DATA = re.compile(r"_ZT[VTI]N?(.*?)E?$")  # mangled: a virtual table, or a type

# libmini's files are formatted: a definition begins in column 0, and ends with a brace there.
NO_FUNCTION = re.compile(r"(?:namespace|using|typedef|struct|class|enum|union|static_assert"
                         r"|friend)\b|template [^<]")
NAME = re.compile(r"((?:\w+::)*(?:operator *(?:\(\)|[^\s\w(]+|\w[\w: ]*)|~?[A-Za-z_]\w*)) *\(")
INSTANTIATION = re.compile(r"^template (?:(?:class|struct) ([\w:]+)<"
                           r"|[^<(;][^(;]*?([\w:]+)(?:<[^()]*>)? *\()", re.MULTILINE)


@dataclass(frozen=True)
class Missing:
    symbol: str  # as the linker knows it
    name: str  # "Reducer::mark_ready"
    file: str  # of the learner, that lacks it
    tasks: str  # "16.4"; all tasks of the file, "16.4,16.5", of a core or if the function has no region


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
                code.endswith("}") and not any("{" in each for each in lines[begun:number])):
            signature = without_templates(" ".join(lines[begun:number + 1]).split("{")[0])
            name = NAME.search(signature)
            found += [Definition(name[1].replace(" ", ""), begun, number)] if name else []
            begun = None
        elif code.endswith(";") and not any("{" in each for each in lines[begun:number + 1]):
            begun = None  # a declaration
    return found


def without_templates(text):
    while (shorter := re.sub(r"(?<!operator)<[^<>]*>", "", text)) != text:
        text = shorter
    return text


def short_name(demangled):
    """Returns "mini::Tensor::from" of "mini::Tensor mini::Tensor::from<float>(...)"."""
    match = NAME.search(without_templates(re.sub(r"\(anonymous namespace\)::|\[abi:\w+\]", "", demangled)))
    return match[1] if match else demangled


def instantiations_in(text):
    return [match[1] or match[2] for match in INSTANTIATION.finditer(text)]


def symbols_of(nm, objects):
    """Returns {symbol: nm's letter} of what objects define for others."""
    if not objects:
        return {}
    listed = run(nm, "-P", "--defined-only", "--extern-only", *objects)
    words = (line.split() for line in listed.splitlines())
    return {word[0]: word[1] for word in words if len(word) > 1}


def demangled(symbols):
    if not symbols:
        return {}
    done = subprocess.run(["c++filt"], input="\n".join(symbols), capture_output=True, text=True,
                          check=True)
    return dict(zip(symbols, done.stdout.splitlines()))


def missing_functions(mine, theirs, texts):
    """Returns the functions that only `theirs` defines. `texts`: {path: text} of libmini's files.
    Weak symbols count only if instantiated explicitly: each file has its own inline functions."""
    lacking = [symbol for symbol, letter in theirs.items()
               if symbol not in mine and letter in "TW" and "." not in symbol]
    names = demangled(lacking)
    explicit = [name for text in texts.values() for name in instantiations_in(text)]
    return [place(symbol, names[symbol], texts) for symbol in lacking
            if theirs[symbol] == "T" or any(is_of(names[symbol], name) for name in explicit)]


def is_of(name, explicit):
    """Returns whether a function is instantiated explicitly, itself or with its class."""
    plain = "::" + short_name(name)
    return plain.endswith("::" + explicit) or f"::{explicit}::" in plain


def place(symbol, name, texts):
    """Returns the Missing function with its file and its tasks."""
    plain = short_name(name)
    for path, text in texts.items():
        found = [each for each in defined_in(text) if f"::{plain}".endswith("::" + each.name)]
        if found:
            regions = regions_in(text, path)
            own = [region.task for region in regions if not core_in(text, path)[1]
                   for each in found if each.first <= region.first <= each.last]
            return Missing(symbol, found[0].name, path,
                           joined(own[:1] or [region.task for region in regions]))
    tasks = [region.task for path, text in texts.items() for region in regions_in(text, path)]
    return Missing(symbol, plain.removeprefix("mini::"), next(iter(texts)), joined(tasks))


def joined(tasks):
    return ",".join(sorted(set(tasks)))


def lacks_data(mine, theirs):
    """Returns whether `mine` lacks a variable of `theirs`, or the data of a class."""
    functions = " ".join(symbol for symbol, letter in theirs.items() if letter == "T")
    for symbol, letter in theirs.items():
        of_class = CLASS_DATA.match(symbol)
        if symbol not in mine and (letter in VARIABLES or of_class and of_class[1] in functions):
            return True
    return False


def stubs(missing):
    return HEAD + "\n".join(STUB.format(number=number, symbol=each.symbol, tasks=each.tasks,
                                        file=f"work/{work_name(ROOT, each.tasks[:2], each.file)}",
                                        name=each.name)
                            for number, each in enumerate(missing))


def run(*command):
    done = subprocess.run(list(map(str, command)), capture_output=True, text=True)
    if done.returncode:
        raise LabError(f"{command[0]} failed: {done.stderr.strip()}")
    return done.stdout


def write_rest(path, theirs, tools):
    """Writes an object with all that `theirs` has, as weak symbols; empty without `theirs`."""
    path.unlink(missing_ok=True)
    if not theirs:
        run(tools["compiler"], "-x", "c++", "-c", "/dev/null", "-o", path)
        return
    weak = [path.with_suffix(f".{number}.o") for number in range(len(theirs))]
    for old, new in zip(theirs, weak):
        run(tools["objcopy"], "--weaken", old, new)
    run(tools["linker"], "-r", "-o", path, *weak)


def read_request(path):
    """Returns {key: list of words} of the file that CMake writes: lines "key=word;word"."""
    lines = path.read_text(encoding="utf-8").splitlines()
    pairs = (line.split("=", 1) for line in lines if "=" in line)
    return {key: [word for word in words.split(";") if word] for key, words in pairs}


def of_sources(objects, sources, labs):
    """Returns the objects of libmini's files: batches of a lab, files, and objects of a course."""
    batches = tuple(f"/unity_lab{lab}_cxx.cxx.o" for lab in labs)
    of_labs = tuple(f".lab{lab}." for lab in labs)

    def is_theirs(path):
        folder, name = os.path.split(os.path.normpath(path))
        inside = os.path.join(folder, name).rsplit(".dir/", 1)[-1].removesuffix(".o")
        return (name.startswith("unity_") and f"/{name}".endswith(batches)
                or folder.endswith("/course") and any(lab in name for lab in of_labs)
                or any(source.endswith("/" + inside) for source in sources))

    return [path for path in objects if is_theirs(path)]


def main(words):
    request = read_request(Path(words[0]))
    labs, sources = request["labs"], request["sources"]
    tools = {name: request[name][0] for name in ("compiler", "nm", "objcopy", "linker")}
    theirs = of_sources(request["theirs"], sources, labs)
    texts = {source: (ROOT / source).read_text(encoding="utf-8") for source in sources}
    mine_has = symbols_of(tools["nm"], request["mine"])
    theirs_has = symbols_of(tools["nm"], theirs)
    missing = missing_functions(mine_has, theirs_has, texts)
    Path(request["stubs"][0]).write_text(stubs(missing), encoding="utf-8")
    write_rest(Path(request["rest"][0]), theirs if lacks_data(mine_has, theirs_has) else [], tools)


if __name__ == "__main__":
    main(sys.argv[1:])
