"""`labs/lab dev package`: a grader for an exported course.

    gradescope   DIR/../autograder.zip: setup.sh, run_autograder, and the course itself
    actions      DIR/.github/workflows/grade.yml, for GitHub Actions and GitHub Classroom

Both grade in a course without solutions, so that student code has none to read.
"""

import json
import re
import zipfile
from pathlib import Path

from lab_tool.course import COURSE
from lab_tool.export import course_in
from lab_tool.screen import LabError, say

EXECUTABLE, READABLE = 0o100755 << 16, 0o100644 << 16
SETUP = """\
#!/bin/sh
# Runs once, when Gradescope builds the autograder's image: packages, a user without rights,
# and the part of libmini that does not depend on a submission.
set -eu
cd "${AUTOGRADER:-/autograder}/source/course"
user=${AUTOGRADER_USER-student}
labs/lab setup
[ -z "$user" ] || id "$user" >/dev/null 2>&1 || useradd --system --no-create-home "$user"
cmake --preset release
cmake --build --preset release --target @TARGETS@
"""
RUN = """\
#!/bin/sh
# Runs once for each submission: copies its sources to work/, checks them, and writes
# results/results.json. Student code runs as another user, who can neither read the submission and
# the results nor end the grader.
root=${AUTOGRADER:-/autograder}
user=${AUTOGRADER_USER-student}
mkdir -p "$root/results"
chmod 700 "$root/results" "$root/submission"
cd "$root/source/course" || exit 1
set -- --format gradescope --output "$root/results/results.json" --labs @LABS@ \\
    --submission "$root/submission"
[ -z "$user" ] || set -- "$@" --user "$user"
labs/lab grade "$@"
[ -f "$root/results/results.json" ] || printf '%s\\n' \\
    '{"score": 0, "output": "The grader ended before it wrote a result; ask your instructor."}' \\
    > "$root/results/results.json"
"""
WORKFLOW = """\
# Grades the labs whose files are in work/, at every push. Made by labs/lab dev package.
name: grade
on: [push, workflow_dispatch]
permissions:
  contents: read
jobs:
  grade:
    runs-on: ubuntu-latest
    container: @SYSTEM@
    timeout-minutes: 60
    steps:
      - uses: actions/checkout@v4
      - name: set up
        run: |
          labs/lab setup
          id ${GRADER_USER-student} >/dev/null 2>&1 || useradd --system student
      - name: grade
        run: |
          labs/lab grade --labs @LABS@ --format junit --output grades.xml \\
            --user "${GRADER_USER-student}" > grades.txt
          { echo '```'; cat grades.txt; echo '```'; } >> "$GITHUB_STEP_SUMMARY"
      - uses: actions/upload-artifact@v4
        if: always()
        with:
          name: grades
          path: grades.*
"""


def add_arguments(parser):
    parser.add_argument("kind", choices=("gradescope", "actions"))
    parser.add_argument("folder", type=Path, metavar="DIR", help="an exported course")
    parser.add_argument("--labs", metavar="N,...", help="the labs to grade (all of the course)")
    parser.add_argument("--output", type=Path, metavar="FILE", help="the zip of gradescope")


def run(options):
    folder = options.folder.absolute()
    course = course_in(folder) if folder.is_dir() else {}
    if not course:
        raise LabError(f"{options.folder} is no exported course; make one: labs/lab dev export "
                       f"{options.folder} --labs 7,9")
    values = values_of(course, options)
    if options.kind == "actions":
        path = folder / ".github/workflows/grade.yml"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(filled(WORKFLOW, values), encoding="utf-8")
    else:
        path = options.output or folder.parent / "autograder.zip"
        write_zip(path, folder, course, values)
    say(f"wrote {path}: grades labs {values['LABS']}")
    return 0


def values_of(course, options):
    labs = [number.strip().zfill(2)
            for number in (options.labs or ",".join(course["labs"])).split(",")]
    for lab in labs:
        if lab not in course["labs"]:
            raise LabError(f"lab {lab} is not in the course; its labs: {', '.join(course['labs'])}")
    return {"LABS": ",".join(labs), "TARGETS": " ".join(f"lab{lab}_check" for lab in labs),
            "SYSTEM": course["system"]}


def filled(template, values):
    return re.sub(r"@(\w+)@", lambda name: values[name[1]], template)


def write_zip(path, folder, course, values):
    """Writes Gradescope's zip: the two scripts, and the files of the course in course/."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as file:
        for name, text in (("setup.sh", SETUP), ("run_autograder", RUN)):
            add(file, name, filled(text, values).encode(), EXECUTABLE)
        add(file, f"course/{COURSE}", json.dumps(course).encode(), READABLE)
        for each in course["files"]:
            is_program = (folder / each).stat().st_mode & 0o111
            add(file, f"course/{each}", (folder / each).read_bytes(),
                EXECUTABLE if is_program else READABLE)


def add(file, name, data, mode):
    entry = zipfile.ZipInfo(name, (1980, 1, 1, 0, 0, 0))
    entry.compress_type, entry.external_attr = zipfile.ZIP_DEFLATED, mode
    file.writestr(entry, data)
