"""A course repository: libmini without the solutions of the course's labs.

    libmini/, labs/NN-*/     sources with MINI_TODO in the regions of the course's labs; of other
                             labs, files with regions are in course/ only
    course/                  the solutions as object files (export_objects)
    course.json              labs, version, and the paths of all files
    README.md, CMakePresets.json, .gitignore, labs/README.md     for this course

Export again into the same folder to update it: files of the course are replaced or deleted, and
other files, such as work/, stay."""

import json
import os
import re
import shutil
from pathlib import Path

from author_tool import export_objects
from lab_tool.catalogue import COURSE, Catalogue
from lab_tool.places import ROOT
from lab_tool.process import commit_of, output_of
from lab_tool.regions import starter
from lab_tool.screen import LabError, say
from lab_tool.verbs.setup import install_missing

HINTS = 2  # of three; the last is nearly the code where a file has gaps
KEPT = (".devcontainer/", "libmini/", *(f"labs/{each}/" for each in "check measure text grader lab_tool".split()),
        "data/", "tests/support/", "tests/kernels/support.hpp", "tests/golden/", "docs/pages/", "docs/figures/")
KEPT_FILES = ("AGENTS.md", "CLAUDE.md", "CMakeLists.txt", "CMakePresets.json", "LICENSE", ".clang-format",
              ".gitattributes", ".clangd", ".editorconfig", "labs/lab", "labs/CMakeLists.txt", "labs/README.md",
              "labs/built.py", "labs/chart.py", "labs/numbered.hpp", "tests/CMakeLists.txt")
LEFT_OUT = re.compile(r"labs/lab_tool/verbs/(dev|test|test_yours)\."
                      r"|docs/pages/(instructors|grading|syllabus|labs|library|index|interface|validation)\.md"
                      r"|tests/golden/images/|docs/figures/.*\.png")
# An answer is a fold (<details>). Those of a warm-up stay, since it is no hand-in, and so does a
# hunt's "Where to look".
FOLD = re.compile(r"^(?P<indent> *)<details>.*?^(?P=indent)</details>\n+", re.MULTILINE | re.DOTALL)
SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
HEADING = re.compile(r"^#{2,3} +(.*)$", re.MULTILINE)
# What pages say of the open repository only: verbs, the choice of labs, git's part, authors' work.
OPEN_ONLY = re.compile(r"(?ms)^    labs/lab (?:test-yours|diff) [^\n]*\n|, which git ignores|^## Your own test.*?(?=^Each lab)"
                       r"|\n## If you change libmini.*")
WARM_UP = ("Warm-up", "By hand")
DEMO = "labs/16-bucketed-ddp/"  # has the program of `labs/lab demo`
GITIGNORE = "/build/\n/work/.*\n/data/mnist/\n__pycache__/\n"


class Export:
    def __init__(self, catalogue, labs, name, is_native=False):
        self.tracked = tracked(catalogue.root)
        self.catalogue, self.labs, self.name = catalogue, labs, name
        self.numbers = {lab.number for lab in labs}
        self.folder = export_objects.NATIVE if is_native else export_objects.FOLDER
        self.flags = "-march=native" if is_native else export_objects.USUAL_FLAGS

    def is_object_only(self, path):
        """Returns whether a file with regions of another lab is in the course as an object only."""
        lab = self.catalogue.lab_of.get(path)
        return bool(lab) and lab not in self.numbers

    def texts(self):
        found = {}
        for path in self.tracked:
            if self.is_kept(path):
                text = (self.catalogue.root / path).read_text(encoding="utf-8")
                found[path] = self.changed(path, text)
        return found | {".gitignore": GITIGNORE, "README.md": self.readme()}

    def is_kept(self, path):
        if LEFT_OUT.match(path):
            return False
        lab = re.match(r"labs/(\d\d)-", path)
        if lab and lab[1] not in {"00", *self.numbers}:  # lab 00 belongs to each course
            return path.startswith(tuple(DEMO + name for name in ("CMakeLists.txt", "train_mnist.", "mnist_report.")))
        return bool(lab) or path in KEPT_FILES or path.startswith(KEPT)

    def changed(self, path, text):
        if self.is_object_only(path):
            return (f"// Lab {self.catalogue.lab_of[path]} is not in this course: libmini's code is in "
                    "course/, as an object file.\n")
        if path in self.catalogue.lab_of:
            return starter(text, path)
        if "/hints/" in path:
            return text.split(f"\n## {HINTS + 1}")[0].rstrip() + "\n"
        if path.endswith(".md"):
            page = OPEN_ONLY.sub("", text).rstrip() + "\n"
            page = FOLD.sub(lambda fold: "" if is_answer(page, fold) else fold[0], page)
            return re.sub(r"!?\[([^\]]*)\]\(([\w./-]+\.\w+)\)", lambda link: link[0] if self.is_kept(
                os.path.normpath(f"{path}/../{link[2]}")) else link[1], page)  # no dead links
        if path == "CMakePresets.json":
            return self.presets(json.loads(text))
        if path == DEMO + "CMakeLists.txt" and "16" not in self.numbers:
            return text.partition(")\n")[0] + ")\n"  # its first program
        if path == "labs/grader/grade.yml":
            return text.replace("debian:12", export_objects.system())
        if path == "CMakeLists.txt":
            return text.replace("add_subdirectory(docs)\n", "") + "include(course/objects.cmake)\n"
        if path == "tests/CMakeLists.txt":  # of libmini's tests, only what checks need
            return text.split("add_custom_target(unit_tests)")[0].rstrip() + "\n"
        return text

    def presets(self, presets):
        """Keeps the presets release, with the flags of the object files, and editor."""
        for key, value in presets.items():
            if key.endswith("Presets"):
                presets[key] = [each for each in value if each["name"] in ("release", "editor")]
        release = presets["configurePresets"][0]
        release["cacheVariables"] |= {"CMAKE_CXX_FLAGS": self.flags, "MINI_CUDA": "SIM"}
        release["displayName"] = "Release"
        return json.dumps(presets, indent=2) + "\n"

    def readme(self):
        rows = []
        for lab in filter(None, [self.catalogue.lab00, *self.labs]):
            hours = "".join(re.findall("(?m)^Time: ([0-9]+ hours)", lab.pages[0].read_text("utf-8")))
            rows.append(f"| [{lab.number}](labs/{lab.folder.name}/README.md) | {lab.title} | {hours} | "
                        f"{sum(task.of for task in lab.all_tasks)} |")
        name, version, _ = export_objects.compiler(self.folder)
        page = (Path(__file__).parent / "course_readme.md").read_text(encoding="utf-8")
        return page.format(name=self.name, first=int(self.labs[0].number), rows="\n".join(rows),
                             system=export_objects.system(), compiler=f"{name} {version}",
                             commit=commit_of(ROOT)[:12])

    def objects(self):
        """Builds the object files; returns those that the course needs."""
        built = export_objects.build_objects(self.catalogue, self.folder, self.flags)
        return [each for each in built if any(map(self.is_kept, each.sources))]

    def write(self, folder):
        """Exports to a folder, or updates it. Returns the number of files."""
        old = course_in(folder)
        objects = self.objects()
        texts = self.texts()
        texts["course/objects.cmake"] = export_objects.objects_cmake(
            objects, *export_objects.compiler(self.folder))
        (folder / "course").mkdir(parents=True, exist_ok=True)
        for each in objects:
            shutil.copyfile(self.folder / each.output, folder / "course" / each.name)
        for path, text in texts.items():
            (folder / path).parent.mkdir(parents=True, exist_ok=True)
            (folder / path).write_text(text, encoding="utf-8")
            if os.access(self.catalogue.root / path, os.X_OK):
                (folder / path).chmod(0o755)
        paths = sorted([*texts, *[f"course/{each.name}" for each in objects]])
        for path in set(old.get("files", ())) - set(paths):
            (folder / path).unlink(missing_ok=True)
        content = {"version": 1, "name": self.name, "libmini": commit_of(ROOT),
                   "labs": [lab.number for lab in self.labs], "system": export_objects.system(),
                   "files": paths}
        (folder / COURSE).write_text(json.dumps(content, indent=1) + "\n", encoding="utf-8")
        return len(paths)


def is_answer(text, fold):
    """Returns whether a fold of a page, a match of FOLD, is an answer."""
    heading = ([""] + HEADING.findall(text[:fold.start()]))[-1]
    summary = SUMMARY.search(fold[0])
    return not heading.startswith(WARM_UP) and not (
        summary and summary[1].strip() == "Where to look")


def answer_book(labs):
    """Returns, as Markdown, the parts of the labs' pages whose answers a course lacks, with the
    answers and the points of tasks, and the quizzes."""
    text = "Of the choices of a quiz question the first is right; the quiz shows them in another order.\n"
    for lab in filter(None, labs):
        text += f"\n# Lab {lab.number} {lab.title}\n\n"
        text += "".join(f"- {task.name} {task.what}: {task.points} points\n" for task in lab.all_tasks)
        for part in re.split("(?m)^(?=##)", "".join(page.read_text("utf-8") for page in lab.pages)):
            if any(is_answer(part, fold) for fold in FOLD.finditer(part)):
                text += "\n" + re.sub(r" *</?details>\n*", "", SUMMARY.sub(r"**\1**", part))
        quiz = lab.folder / "quiz.json"
        for question in json.loads(quiz.read_text(encoding="utf-8")) if quiz.exists() else ():
            text += f"\n- Quiz: {question.pop('ask')}\n"
            text += "".join(f"  - {name}: `{value}`\n" for name, value in question.items())
    return text


def tracked(root):
    listed = output_of(["git", "-C", str(root), "ls-files", "-z"])
    if listed is None:
        raise LabError("labs/lab dev export needs git, and a git clone of libmini")
    return [path for path in listed.split("\0") if path]


def course_in(folder):
    """Returns the content of a course's file; {} for a folder that is new or empty."""
    path = folder / COURSE
    if path.exists():
        return json.loads(path.read_text(encoding="utf-8"))
    if folder.exists() and any(each.name != ".git" for each in folder.iterdir()):
        raise LabError(f"{folder} has files and is no exported course; name an empty folder")
    return {}


def add_arguments(parser):
    parser.add_argument("folder", type=Path, metavar="DIR",
                        help="a new folder, or the course to update")
    parser.add_argument("--labs", required=True, metavar="N,...", help="the labs of the course; 00 is in each")
    parser.add_argument("--name", default="Distributed training, taken apart", help="(for its README)")
    parser.add_argument("--answers", type=Path, metavar="FILE", help="write the answers there, for you")
    parser.add_argument("--native", action="store_true",
                        help="for this machine's processor: with the objects of build/release, "
                        f"instead of new ones with {export_objects.USUAL_FLAGS}")


def run(options):
    catalogue = Catalogue()
    if catalogue.course:
        raise LabError("this is an exported course; export from a clone of libmini")
    numbers = filter(lambda number: number.strip("0"), re.split(r"[,\s]+", options.labs))
    labs = list(dict.fromkeys(catalogue.lab(number).number for number in numbers))
    install_missing(optional=False)
    export = Export(catalogue, list(map(catalogue.lab, labs)), options.name, options.native)
    if options.answers:
        options.answers.write_text(answer_book([catalogue.lab00, *export.labs]), encoding="utf-8")
    say(f"wrote {export.write(options.folder)} files to {options.folder}: labs {', '.join(labs)}")
    say("next: git init, commit, and give it to the students (docs/pages/instructors.md)")
    return 0
