"""usage: mini cuda FILE.cu... [-o PROGRAM] [options of g++] [-- ARGUMENTS]

Compiles CUDA C++ for the simulator: no GPU and no toolkit is needed.

  -o FILE       the program (a.out), or with -c the object file
  -c            compile one file, do not link
  -MF FILE      list the files that the object file depends on, as make reads it
  --run         run the program with ARGUMENTS; without -o it cannot be checked,
                and is faster
  --check       run it under the checker: races, bounds, uninitialised reads,
                barriers that not all threads reach, missing stream order
  --count       run it, then print each kernel's memory traffic
  --seeds N     --check with N orders of the blocks, until one has mistakes

Exit code: that of the program, 1 if it has mistakes, 3 if it does not compile,
2 if this command line is wrong. Options of nvcc that say which GPU to compile
for, and its libraries, are accepted and ignored. CXX names another compiler.
"""
# The program mini calls this script with the simulator's place before the words of its user:
#
#     mini_cuda.py FOLDER_OF_HEADERS LIBRARIES COMPILER LINKER words...
#
# A .cu file is translated (translate.py) and compiled with program.hpp, which is precompiled at
# the first use, in MINI_CUDA_CACHE or ~/.cache/libmini/cuda.

import fcntl
import hashlib
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
from pathlib import Path
from types import SimpleNamespace

from translate import CUDA, translate

SIMULATOR = "libmini/extras/cudasim"
DOES_NOT_COMPILE = 3

# Options of nvcc that mean nothing here. Those of the first line take a value.
OF_NVCC_WITH_VALUE = ("-arch --gpu-architecture -gencode --generate-code -code -maxrregcount -rdc "
                      "--relocatable-device-code").split()
OF_NVCC = ("--expt-relaxed-constexpr --expt-extended-lambda --extended-lambda -extended-lambda -lineinfo "
           "--use_fast_math -use_fast_math -G -dc -lcudart -lcublas -lcublasLt -lcurand -lcuda "
           "-lcudadevrt").split()

# Headers whose names program.hpp declares.
OF_TOOLKIT = ("cuda.h cuda_runtime.h cuda_runtime_api.h device_launch_parameters.h vector_types.h "
              "vector_functions.h math_constants.h device_functions.h device_atomic_functions.h "
              "cuda_profiler_api.h").split()

# Other headers of the toolkit.
TOOLKIT = re.compile(r"cooperative_groups|cu(da|b|rand|fft|sparse|solver|dnn)|nv|mma")

# What a compiler's error names that the simulator does not have.
LIBRARY = r"cooperative_groups|cub|thrust|nvcuda"
MISSING = re.compile(rf"""['‘](?P<name>(?:__\w|cu[a-z]*[A-Z_:]|nv[a-z]*|mma_|wmma|(?:{LIBRARY})::)[\w:]*)['’]\ (?:was\ not|has\ not)
    |['‘](?P<of_gcc>\w+)['’]\ (?:is\ not\ a\ member\ of|in\ namespace)\ ['‘](?P<in_gcc>(?:{LIBRARY})[\w:]*)
    |(?:no\ (?:type|member|template)\ named)\ '(?P<of_clang>\w+)'\ in\ (?:namespace\ )?'(?P<in_clang>(?:{LIBRARY})[\w:]*)
    |(?:undeclared\ identifier|unknown\ type\ name)\ '(?P<id>cu\w+)'
    |fatal\ error:\ '?(?P<header>[\w/.]+)\ is\ not\ simulated""", re.X)

# What it says of a launch whose arguments do not fit, and why they do not.
LAUNCH = re.compile(r"no match.*\bFunctionLauncher<.*")
WHY = re.compile(r"no known conversion.*|candidate expects.*|requires \d+ argument.*")


def fail(message):
    print(f"mini cuda: {message}", file=sys.stderr)
    sys.exit(2)


def parse(words):
    """Returns the user's options; `others` are the compiler's, in their order."""
    options = SimpleNamespace(sources=[], others=[], linked=[], arguments=[], o="", MF="", c=False,
                              run=False, check=False, count=False, seeds="")
    words = iter(words)

    def value():
        got = next(words, None)
        if got is None:
            fail(f"{word} what?")
        return got

    for word in words:
        if word == "--":
            options.arguments = list(words)
        elif word in ("--run", "--check", "--count", "-c"):
            setattr(options, word.strip("-"), True)
        elif word in ("--seeds", "-o", "-MF"):
            setattr(options, word.strip("-"), value())
        elif word in OF_NVCC_WITH_VALUE:
            value()
        elif (word in OF_NVCC or word.split("=")[0] in OF_NVCC_WITH_VALUE
              or word.startswith("-std=")):  # the simulator's headers need C++20
            pass
        elif word == "-Xcompiler":
            options.others += value().split(",")
        elif word in ("-I", "-D", "-include"):
            options.others += [word, value()]
        elif word.endswith(".cu"):
            options.sources.append(word)
        elif word.startswith(("-l", "-L", "-Wl,")) or not word.startswith("-"):
            options.linked.append(word)
        else:
            options.others.append(word)

    if options.seeds and not (options.seeds.isdigit() and int(options.seeds) > 0):
        fail("--seeds takes a number from 1 up")
    options.check = options.check or bool(options.seeds)
    options.run = options.run or options.check or options.count
    options.others += ["-MMD", "-MF", options.MF] if options.MF else []
    if not options.sources:
        fail("name a .cu file; see mini cuda --help")
    for each in options.sources:
        if not Path(each).is_file():
            fail(f"{each}: no such file")
    if options.check and options.count:
        fail("--check and --count need a run each")
    if options.c and (options.run or len(options.sources) > 1):
        fail("-c takes one file, and runs nothing")
    is_kept = options.o or "MINI_SIM_CHECK" in os.environ
    options.fast = options.run and not (options.check or options.count or is_kept)
    return options


class Compiler:
    """GCC or Clang, with what the simulator's checker needs."""

    def __init__(self, headers, libraries, name, linker, options):
        self.headers, self.libraries, self.options = Path(headers), libraries, options.others
        self.toolkit = self.headers / SIMULATOR / "include"
        self.command = shlex.split(os.environ.get("CXX") or name)
        self.linker = [f"-fuse-ld={linker}"] if linker else []
        try:
            self.version = subprocess.check_output(self.command + ["--version"], text=True)
        except (OSError, subprocess.CalledProcessError) as error:
            fail(f"{error}; set CXX to GCC or Clang")
        self.is_clang = "clang" in self.version
        self.base = ["-std=c++20", "-ffp-contract=off", "-DMINI_ALL_CORES", f"-I{self.headers}",
                     "-isystem", str(self.toolkit), *self.mode(options)]
        self.base += [each for each in self.options if re.match("-[Ofmgs]", each)]

    def mode(self, options):
        """Returns the options of kernels that the checker observes, or of those that only run."""
        if options.fast:  # see checked_options.txt for -fipa-cp
            return ["-O2"] if self.is_clang else ["-O2", "-fno-ipa-cp"]
        lines = (self.headers / SIMULATOR / "checked_options.txt").read_text().splitlines()
        kinds = ("all ", "Clang " if self.is_clang else "GNU ")
        checked = [word for line in lines if line.startswith(kinds) for word in line.split()[1:]]
        # addr2line finds the file of a #line only in version 4 of DWARF.
        return ["-O1", *checked, "-gdwarf-4"]

    def run(self, words):
        """Runs the compiler, prints its errors, and what they name that is not simulated. Leaves out
        what it says of templates, if that explains nothing."""
        done = subprocess.run(self.command + words, stderr=subprocess.PIPE, text=True, check=False)
        names = {"::".join(reversed([part for part in match if part]))
                 for match in MISSING.findall(done.stderr)} if done.returncode else set()
        is_launch = LAUNCH.search(done.stderr) is not None
        for line in done.stderr.splitlines():
            if is_launch and (why := WHY.search(line)):
                print(f"    {why[0]}", file=sys.stderr)
            elif not (names or is_launch) or "error:" in line:
                print(LAUNCH.sub("the arguments do not fit the kernel's parameters", line),
                      file=sys.stderr)
        for name in sorted(names):
            print(f"mini cuda: {name} is not simulated", file=sys.stderr)
        return done.returncode == 0

    def precompiled(self):
        """Returns the options that include program.hpp, precompiled if there is a folder for it."""
        header = self.headers / SIMULATOR / "program.hpp"
        stamps = [f"{each} {each.stat().st_mtime_ns}" for folder in (SIMULATOR, "libmini/core")
                  for each in sorted((self.headers / folder).rglob("*.h*"))]
        key = hashlib.sha256("\n".join([self.version, *self.base, *stamps]).encode()).hexdigest()[:16]
        cache = os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache"
        folder = Path(os.environ.get("MINI_CUDA_CACHE") or Path(cache) / "libmini/cuda") / key
        copy = folder / "program.hpp"
        made = folder / ("program.hpp.pch" if self.is_clang else "program.hpp.gch")
        try:
            folder.mkdir(parents=True, exist_ok=True)
            with open(folder / "lock", "wb") as lock:
                fcntl.flock(lock, fcntl.LOCK_EX)  # another process may be making it
                if not made.exists():
                    copy.write_text(f'#include "{header}"\n')
                    self.run(self.base + ["-w", "-x", "c++-header", str(copy), "-o", f"{copy}.part"])
                    Path(f"{copy}.part").rename(made)
        except OSError:
            if not made.exists():
                return ["-include", str(header)]
        return ["-include-pch", str(made)] if self.is_clang else ["-include", str(copy)]

    def compile(self, source, to):
        words = self.base + self.precompiled() + self.options
        if not any(each.startswith("-W") for each in self.options):
            words.append("-w")
        # The columns are those of the translation.
        words += ["-fno-show-column",
                  "-fno-caret-diagnostics" if self.is_clang else "-fno-diagnostics-show-caret"]
        if not self.run(words + ["-x", "c++", "-c", str(source), "-o", to]):
            return False
        # The compilers do not tell the checker of copies by these functions, nor by Clang 14 of
        # structures.
        renamed = [f"--redefine-sym={name}=__tsan_{name}" for name in ("memcpy", "memmove", "memset")]
        return subprocess.run(["objcopy", *renamed, to], check=False).returncode == 0

    def link(self, objects, program):
        return self.run([*self.linker, *objects, *shlex.split(self.libraries), "-pthread", "-o", program])


class Translation:
    """Translates a file, and the local files that it includes, into a folder."""

    def __init__(self, folder, headers, options):
        self.folder, self.headers, self.done = Path(folder), headers, {}
        self.searched = [Path(next(words) if word == "-I" else word[2:])
                         for words in [iter(options)] for word in words if word.startswith("-I")]

    def translated(self, path):
        path = Path(path)
        key = path.resolve()
        if key not in self.done:
            to = self.done[key] = self.folder / f"{len(self.done)}_{path.name}"
            text = translate(path.read_text(encoding="utf-8", errors="surrogateescape"),
                             lambda name, is_quoted: self.included(name, path.parent, is_quoted))
            to.write_text(f'#line 1 "{path}"\n{text}', encoding="utf-8", errors="surrogateescape")
        return self.done[key]

    def included(self, name, beside, is_quoted):
        """Returns the file to include: the translation, or the file itself if it has no CUDA."""
        for folder in [beside] * is_quoted + self.searched:
            path = folder / name
            if path.is_file():
                has_cuda = CUDA.search(path.read_text(encoding="utf-8", errors="surrogateescape"))
                return self.translated(path) if has_cuda else path.resolve()
        if name in OF_TOOLKIT:
            return "cuda_runtime.h"
        for header in (name, name.split("/")[0] + ".h"):
            if (self.headers / header).is_file():
                return header
        if name.startswith("thrust/") and not Path("/usr/include", name).is_file():
            return f"{name}: install the package libthrust-dev"
        return f"{name} is not simulated" if TOOLKIT.match(name) else None

    def name_sources(self, depends):
        """Puts the names of the user's files into a compiler's list of read files."""
        text = depends.read_text()
        for source, translated in self.done.items():
            text = text.replace(str(translated), str(source))
        depends.write_text(text)


def build(options, places, folder):
    """Compiles and links. Returns whether all went well."""
    compiler = Compiler(*places, options)
    objects = []
    for i, source in enumerate(options.sources):
        part = Path(folder, str(i))
        part.mkdir()
        objects.append(options.o if options.c else f"{part}.o")
        translation = Translation(part, compiler.toolkit, options.others)
        if not compiler.compile(translation.translated(source), objects[-1]):
            return False
        if options.MF:
            translation.name_sources(Path(options.MF))
    return options.c or compiler.link(objects + options.linked, options.o)


def run(options):
    """Runs the program, with each order of the blocks until one has mistakes. Returns its code."""
    words = [os.path.abspath(options.o), *options.arguments]
    settings = os.environ | {f"MINI_SIM_{each}": "1" for each in ("CHECK", "COUNT")
                             if getattr(options, each.lower())}
    for seed in range(1, int(options.seeds) + 1) if options.seeds else [None]:
        settings |= {"MINI_SIM_BLOCK_SEED": str(seed)} if seed else {}
        # After the first order, the program's output shows only with a mistake.
        output = subprocess.PIPE if seed and seed > 1 else None
        done = subprocess.run(words, env=settings, stdout=output, check=False)
        if (code := done.returncode) != 0:
            sys.stdout.buffer.write(done.stdout or b"")
            if seed:
                print(f"mini cuda: ended at order {seed} of {options.seeds}; MINI_SIM_BLOCK_SEED={seed} "
                      "repeats it", file=sys.stderr)
            return code if code > 0 else 128 - code  # as a shell does for a signal
    return 0


def main(places, words):
    if "--help" in words or "-h" in words:
        print(__doc__, end="")
        return 0
    options = parse(words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(128 + signal.SIGTERM))  # removes the folder
    with tempfile.TemporaryDirectory(prefix="mini_cuda_") as folder:
        options.o = options.o or (
            Path(options.sources[0]).stem + ".o" if options.c
            else f"{folder}/program" if options.run else "a.out")
        if not build(options, places, folder):
            return DOES_NOT_COMPILE
        return run(options) if options.run else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:5], sys.argv[5:]))
