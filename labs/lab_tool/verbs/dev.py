"""For authors of labs and for instructors.

    labs/lab dev check                          check the labs themselves
    labs/lab dev export ~/cs101 --labs 7,9,10   a course without solutions

dev check reads markers, task tables, hints and mutants; compiles every starter;
runs the bug hunts with and without their repairs; and runs every lab's checks
on the reference, every stub and every mutant. At the end it prints the mutants
with the cases that killed them, the complaints, and the counts. The exit code
is 1 if there is a complaint.
"""

from author_tool import check_labs, export


def add_arguments(parser):
    actions = parser.add_subparsers(dest="action", required=True, metavar="ACTION")
    check = actions.add_parser("check", help="check the labs")
    check.add_argument("--lab", metavar="N", help="only this lab: quicker, while you write it")
    export.add_arguments(actions.add_parser("export", help="make a course repository"))


def run(options):
    return export.run(options) if options.action == "export" else check_labs.check_labs(options)
