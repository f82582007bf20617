"""The object files of an exported course: solutions that are linked, and cannot be read.

    course/mini_data.lab07.0.o    what libmini's files with regions of lab 07, of the component
                                  data, compile to
    course/objects.cmake          puts it into libmini_data.a, in place of these files

A course's check of lab 09 uses libmini's code of lab 07: it comes from the object file. The
compilers' and the processor's versions must fit, so objects.cmake compares them."""

import json
import platform
import re
from dataclasses import dataclass
from pathlib import Path

from lab_tool.building import check_built, configure, run_build
from lab_tool.empty_form import INCLUDED
from lab_tool.places import BUILD, PRESET, ROOT, fresh_log
from lab_tool.screen import LabError

FOLDER = BUILD / "export"
NATIVE = BUILD / PRESET  # the usual build, whose objects are for this processor
USUAL_FLAGS = {"x86_64": "-march=x86-64-v3", "aarch64": "-march=armv8-a"}.get(
    platform.machine(), "-march=native")
# libmini's own targets only: not a learner's files, and not the mutants.
OUTPUT = re.compile(r"-o (\S+/CMakeFiles/(?!\S*(?:_mine|_schemata|_yours|_check|_tests)\.dir)"
                    r"(?!mini_(?:check\d\d|schemata|yours|work)_)(\w+)\.dir/\S+\.o)")
HEAD = """\
# Links the solutions, which this course has as object files only.

if(NOT "${{CMAKE_CXX_COMPILER_ID}} ${{CMAKE_CXX_COMPILER_VERSION}}" MATCHES "^{compiler}[.]" OR
        NOT CMAKE_SYSTEM_PROCESSOR STREQUAL "{machine}")
    message(FATAL_ERROR "The object files in course/ are for {compiler} on {machine}; this is "
        "${{CMAKE_CXX_COMPILER_ID}} ${{CMAKE_CXX_COMPILER_VERSION}} on ${{CMAKE_SYSTEM_PROCESSOR}}. "
        "Use {system} on {machine}: docker run --platform linux/{platform} {system} (on another "
        "processor it is emulated, and slow). Or ask for a course that was exported on such a machine.")
endif()

# course_object(<target> <object> <sources>...): links an object file in place of the
# sources. The sources remain for the overlays, which compile them in other folders.
function(course_object target object)
    if(NOT TARGET ${{target}})
        return()
    endif()
    set_target_properties(${{target}} PROPERTIES LINKER_LANGUAGE CXX)
    foreach(source ${{ARGN}})
        set_source_files_properties(${{PROJECT_SOURCE_DIR}}/${{source}}
            ${{PROJECT_BINARY_DIR}}/${{source}}
            TARGET_DIRECTORY ${{target}} PROPERTIES HEADER_FILE_ONLY YES)
    endforeach()
    set_source_files_properties(${{PROJECT_SOURCE_DIR}}/course/${{object}}
        TARGET_DIRECTORY ${{target}} PROPERTIES EXTERNAL_OBJECT YES)
    target_sources(${{target}} PRIVATE ${{PROJECT_SOURCE_DIR}}/course/${{object}})
endfunction()

"""


@dataclass(frozen=True)
class SolutionObject:
    target: str  # mini_data
    lab: str
    sources: tuple  # paths in the repository
    output: str  # in the build folder
    number: int  # several may be of one target and lab

    @property
    def name(self):
        return f"{self.target}.lab{self.lab}.{self.number}.o"


def build_objects(catalogue, folder, flags):
    log = fresh_log("export")
    options = ["-DMINI_CUDA=SIM"]
    if folder != NATIVE:
        options += ["-B", str(folder), f"-DCMAKE_CXX_FLAGS={flags}", "-DMINI_TESTS=OFF"]
    configure(log, *options)
    objects = objects_in(catalogue, folder)
    missing = set(catalogue.lab_of) - {source for each in objects for source in each.sources}
    if missing:
        raise LabError(f"{sorted(missing)[0]} has a region, and no object file has its code")
    check_built("the build failed", *run_build(
        [str(folder)], [each.output for each in objects], log, label="  building the solutions"), log)
    return objects


def objects_in(catalogue, folder):
    """Returns the objects of files with regions. Plain .cu files are translated in the build folder."""
    labs = catalogue.lab_of
    found = []
    for entry in json.loads((folder / "compile_commands.json").read_text(encoding="utf-8")):
        output = OUTPUT.search(entry["command"])
        file = re.sub(f"^{re.escape(str(folder))}/(?!.*/Unity/)", f"{ROOT}/", entry["file"])
        batch = [file]
        if "/Unity/" in file:  # CMake writes it, and it includes the sources of a batch
            batch = INCLUDED.findall(Path(file).read_text(encoding="utf-8"))
        sources = tuple(str(Path(source).relative_to(ROOT)) for source in batch
                        if Path(source).is_relative_to(ROOT))
        in_regions = [source for source in sources if source in labs]
        if not output or not in_regions:
            continue
        if len({labs.get(source) for source in sources}) > 1:
            raise LabError(f"{output[1]} has files of several labs; a course cannot be exported")
        lab = labs[in_regions[0]]
        number = sum((each.target, each.lab) == (output[2], lab) for each in found)
        found.append(SolutionObject(output[2], lab, sources, output[1], number))
    return found


def objects_cmake(objects, name, version, machine):
    text = HEAD.format(compiler=f"{name} {version.split('.')[0]}", machine=machine, system=system(),
                       platform={"x86_64": "amd64", "aarch64": "arm64"}.get(machine, machine))
    for each in objects:
        sources = "".join(f"\n    {source}" for source in each.sources)
        text += f"course_object({each.target} {each.name}{sources})\n"
    return text


def compiler(folder):
    """Returns the compiler's name and version as CMake has found them, and the processor."""
    files = sorted(folder.glob("CMakeFiles/*/CMakeCXXCompiler.cmake"))
    text = files[-1].read_text(encoding="utf-8")
    return (re.search(r'CMAKE_CXX_COMPILER_ID "(\w+)"', text)[1],
            re.search(r'CMAKE_CXX_COMPILER_VERSION "([\d.]+)"', text)[1], platform.machine())


def system():
    """Returns the system as a container image is named: debian:12."""
    try:
        text = Path("/etc/os-release").read_text(encoding="utf-8")
    except OSError:
        return "the same system"
    fields = dict(re.findall(r'^(\w+)="?([^"\n]*)"?$', text, re.MULTILINE))
    return f"{fields.get('ID', 'linux')}:{fields.get('VERSION_ID', 'latest')}"
