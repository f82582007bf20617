"""`labs/lab dev export`: a course repository without the solutions of its labs."""

from pathlib import Path

from lab_tool import export_objects
from lab_tool.catalogue import Catalogue
from lab_tool.export import Export
from lab_tool.screen import LabError, say
from lab_tool.verbs.setup import install_missing


def add_arguments(parser):
    parser.add_argument("folder", type=Path, metavar="DIR",
                        help="a new folder, or the course to update")
    parser.add_argument("--labs", required=True, metavar="N,...", help="the labs of the course")
    parser.add_argument("--name", default="Distributed training, taken apart",
                        help="the course's name, for its README")
    parser.add_argument("--answers", type=Path, metavar="FILE",
                        help="for instructors: the answers that the students' pages lack "
                        "(DIR-answers.md)")
    parser.add_argument("--open", action="store_true",
                        help="with libmini's readable sources of all other labs")
    processor = parser.add_mutually_exclusive_group()
    processor.add_argument("--flags", default="", metavar="FLAGS",
                           help=f"the compiler's flags ({export_objects.usual_flags()})")
    processor.add_argument("--native", action="store_true",
                           help="for this machine's processor: with the objects of build/release")


def run(options):
    catalogue = Catalogue()
    if catalogue.course:
        raise LabError("this is an exported course; export from a clone of libmini")
    labs = sorted({catalogue.lab(number.strip()).number for number in options.labs.split(",")})
    install_missing(optional=False)
    export = Export(catalogue, [catalogue.lab(number) for number in labs], options.name,
                    options.open, options.native, options.flags)
    count = export.write(options.folder.absolute())
    say(f"wrote {count} files to {options.folder}: labs {', '.join(labs)}, without their solutions")
    folder = options.folder.absolute()
    answers = options.answers or folder.with_name(f"{folder.name}-answers.md")
    answers.write_text(export.answers(), encoding="utf-8")
    say(f"wrote {answers}: the answers to hunts and questions, for instructors only")
    say("next: git init, commit, and give it to the students; a grader for it:\n"
        f"  labs/lab dev package gradescope {options.folder}\n"
        f"  labs/lab dev package actions {options.folder}")
    return 0
