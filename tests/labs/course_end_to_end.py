"""A course from its export to its grades, in empty folders; fails if an output is unexpected.

    tests/labs/course_end_to_end.py [--keep]

    export       labs 07 and 09, without a solution line
    student      a clone of the course: lab 07 from its start to its zip
    update       a second export keeps the student's work/
    gradescope   the autograder's scripts, with stand-ins for the folders of Gradescope
    actions      the commands of the workflow, in what git has of the student's clone

The folders are in build/course. A course is built once, by the student; all that follows is in the
same place, from which all is deleted but the build. --keep keeps the build of an earlier run. Courses are
usually made for any processor of a kind; here --native takes the objects of build/release. Takes some
minutes; no network is needed.
"""

import json
import os
import re
import shutil
import subprocess
import sys
import xml.etree.ElementTree as xml
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "labs"))
sys.path.insert(0, str(ROOT / "tests/labs"))

from learner_end_to_end import EMPTY, Learner, check_lacking  # noqa: E402
import leaks  # noqa: E402
from author_tool.export import Export  # noqa: E402
from lab_tool.catalogue import COURSE as COURSE_FILE  # noqa: E402

PLACE = ROOT / "build" / "course"
COURSE, GRADER, HOME = (PLACE / name for name in ("cs101", "grader", "home"))
STUDENT = GRADER / "source"  # also Gradescope's folder for the course
USER = "daemon" if os.geteuid() == 0 else ""
LABS, LAB = ("07", "09"), "07"
POINTS, SCORE = 70, 75  # 60 for the tasks, 10 for the hunt, 5 for a bonus
GIT = ["git", "-c", "user.name=instructor", "-c", "user.email=instructor@example.org"]


def run(*command, cwd, **environment):
    print(f"\n$ {' '.join(map(str, command))}", flush=True)
    done = subprocess.run(list(map(str, command)), cwd=cwd, text=True, errors="replace",
                          stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                          stderr=subprocess.STDOUT, env={**os.environ, **environment})
    print(done.stdout.rstrip("\n"), flush=True)
    assert done.returncode == 0, f"exit code {done.returncode}"
    return done.stdout


def make_course(*words):
    return run("labs/lab", "dev", "export", COURSE, "--labs", ",".join(LABS),
               "--native", *words, cwd=ROOT)


def commit(folder):
    """Commits all. The date is an old one: git archive gives it to the files, and then the build of
    the student's clone is newer than they are, and is taken."""
    run(*GIT, "add", "-A", cwd=folder)
    run(*GIT, "commit", "-q", "--allow-empty", "-m", "a version", cwd=folder,
        GIT_COMMITTER_DATE="2020-01-01T00:00:00Z")


def exported(learner):
    """The course has no code of a region: as a whole, in a long line, or with other spaces."""
    make_course()
    files = json.loads((COURSE / COURSE_FILE).read_text(encoding="utf-8"))["files"]
    texts = {path: (COURSE / path).read_text(encoding="utf-8") for path in files
             if not path.endswith(".o")}
    assert len(texts) > 500, len(texts)
    export = Export(learner.catalogue, [learner.catalogue.lab(lab) for lab in LABS], "CS 101")
    found = leaks.leaks_of(export, texts)
    assert not found, "\n".join(found)
    for path in ("tests/mutants", "tests/hunts", "labs/08-samplers-and-loader",
                 "docs/pages/instructors.md"):
        assert not (COURSE / path).exists(), path
    run("git", "init", "-q", "-b", "main", cwd=COURSE)
    commit(COURSE)
    clear(STUDENT)
    run("git", "clone", "-q", COURSE, HOME, cwd=PLACE)
    move(HOME, STUDENT)


def clear(folder):
    """Deletes what is in a folder, but its build/release."""
    folder.mkdir(parents=True, exist_ok=True)
    for each in [*folder.iterdir(), *folder.glob("build/*")]:
        if each.name not in ("build", "release"):
            shutil.rmtree(each) if each.is_dir() else each.unlink()


def move(source, target):
    """Moves what is in a folder, but build/, to another one."""
    for each in source.iterdir():
        if each.name != "build":
            shutil.move(each, target)


def student(learner):
    lab = learner.catalogue.lab(LAB)
    learner.clone = STUDENT
    learner.lab("status", says=["lab 00 · The whole idea  not started", "labs/lab start 00"])
    learner.lab("start", LAB, "--guided")
    out = learner.lab("check", LAB, ends=1, says=[f"0 of {len(lab.tasks)} tasks pass"])
    assert out.count("not started") == len(lab.tasks) + 1, out
    learner.lab("diff", "7.1", "--yes", ends=1, says=["this course has no solutions"])
    learner.lab("hint", "7.1", says=["hint 1 of 2"])
    learner.solve_lab(LAB)
    learner.lab("check", LAB, ends=0, says=[f"{len(lab.tasks)} of {len(lab.tasks)} tasks pass"])
    check_lacking(learner, STUDENT / "work/07-partition/partition.cpp", LAB, EMPTY,
                  {"07.1", "07.2", "07.3", "07.4"})
    for path in learner.catalogue.files_of(LAB):
        learner.write_whole(path)
    learner.repair_hunt(LAB)
    learner.lab("grade", LAB, "--user", USER, says=[f"{SCORE} of {POINTS} points"])
    learner.lab("submit", LAB, says=["hand in this file"])


def update(learner):
    before = {path: path.read_bytes() for path in sorted((STUDENT / "work").rglob("*.cpp"))}
    assert len(before) == 4, before
    other = next(region.path for region in learner.catalogue.regions if region.lab == "08")
    assert "Lab 08 is not in this course" in (COURSE / other).read_text(encoding="utf-8")
    make_course("--name", "A newer course")
    commit(COURSE)
    run("git", "pull", "-q", cwd=STUDENT)
    assert "A newer course" in (STUDENT / "README.md").read_text(encoding="utf-8")
    for path, content in before.items():
        assert path.read_bytes() == content, f"{path} was changed by the update"
    learner.lab("check", LAB, says=[f"of {len(learner.catalogue.lab(LAB).tasks)} tasks pass"])


def gradescope(learner):
    """The zip of an autograder in place of Gradescope's folders."""
    scripts = [f"--add-file={COURSE}/labs/grader/{name}" for name in ("setup.sh", "run_autograder")]
    run("git", "archive", "--format=zip", "-o", PLACE / "autograder.zip", *scripts, "HEAD",
        cwd=COURSE)
    (GRADER / "submission").mkdir(parents=True, exist_ok=True)
    with zipfile.ZipFile(STUDENT / "build/submission.zip") as file:
        files = {name: file.read(name).decode() for name in file.namelist()}
    move(STUDENT, HOME)
    clear(STUDENT)
    run("unzip", "-q", "-o", PLACE / "autograder.zip", "-d", STUDENT, cwd=PLACE)
    places = {"AUTOGRADER": str(GRADER), "AUTOGRADER_USER": USER, "GRADED_LABS": LAB}
    run("./source/setup.sh", cwd=GRADER, **places)

    def graded(files):
        shutil.rmtree(GRADER / "submission")
        shutil.rmtree(GRADER / "results", ignore_errors=True)
        for path, text in files.items():
            (GRADER / "submission" / path).parent.mkdir(parents=True, exist_ok=True)
            (GRADER / "submission" / path).write_text(text, encoding="utf-8")
        run("./source/run_autograder", cwd=GRADER, **places)
        return json.loads((GRADER / "results/results.json").read_text(encoding="utf-8"))

    result = graded(files)
    assert result["score"] == SCORE, result
    assert sum(test["max_score"] for test in result["tests"] if "score" in test) == POINTS
    assert all(test["status"] == "passed" for test in result["tests"] if "score" in test), result
    refused = graded({**files, "labs/lab_tool/cli.py": "print(60)"})
    assert refused["score"] == 0 and "labs/lab_tool/cli.py" in refused["output"], refused
    clear(STUDENT)
    move(HOME, STUDENT)
    print(f"\nGradescope's scripts gave {SCORE} points", flush=True)


def actions(learner):
    """The commands of the workflow. What git does not have is deleted from the student's clone
    first, but the build."""
    workflow = COURSE / ".github/workflows/grade.yml"
    workflow.parent.mkdir(parents=True, exist_ok=True)
    shutil.copyfile(COURSE / "labs/grader/grade.yml", workflow)
    commit(COURSE)
    run("git", "pull", "-q", cwd=STUDENT)
    commit(STUDENT)
    run("git", "clean", "-q", "-fdx", "-e", "/build/release", cwd=STUDENT)
    assert (STUDENT / "work").is_dir() and not (STUDENT / "work/.lab.json").exists()
    text = (STUDENT / ".github/workflows/grade.yml").read_text(encoding="utf-8")
    scripts = re.findall(r"^        run: \|\n((?:          .*\n)+)", text, re.MULTILINE)
    assert len(scripts) == 2, text
    for script in scripts:
        run("sh", "-e", "-c", script, cwd=STUDENT, GRADER_USER=USER, GRADED_LABS=LAB,
            GITHUB_STEP_SUMMARY=str(STUDENT / "build/summary.md"))
    suite = xml.parse(STUDENT / "grades.xml").getroot().find("testsuite")
    assert (suite.get("failures"), suite.get("skipped")) == ("0", "0"), xml.tostring(suite)
    summary = (STUDENT / "build/summary.md").read_text(encoding="utf-8")
    assert f"{SCORE} of {POINTS} points" in summary, summary
    print(f"\nthe workflow gave {SCORE} points", flush=True)


def main(words):
    if set(words) - {"--keep"}:
        sys.exit(__doc__)
    os.environ.update(NO_COLOR="1", OMP_NUM_THREADS="1")
    if "--keep" not in words:
        shutil.rmtree(PLACE, ignore_errors=True)
    for folder in (COURSE, HOME):
        shutil.rmtree(folder, ignore_errors=True)
    PLACE.mkdir(parents=True, exist_ok=True)
    learner = Learner(ROOT)
    for part in (exported, student, update, gradescope, actions):
        part(learner)
        print(f"\ncourse_end_to_end: {part.__name__} passed", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
