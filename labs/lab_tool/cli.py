"""The table of verbs, and the dispatch of a command line to a verb: a module of lab_tool.verbs with
run(options), which returns the exit code, and add_arguments(parser), if it has any. It is imported
only when the verb is used, so that `labs/lab --help` stays fast. A course lacks the verbs for authors."""

import importlib
import os
import runpy
import sys
from pathlib import Path

from lab_tool.screen import LabError, say

VERBS = {
    "demo": "train a ConvNet on MNIST with two processes: set up, build, run",
    "status": "the labs there are, and how far you are in each",
    "next": "the next task: what, where, and when it is done",
    "start": "begin a lab: write its starter files to work/",
    "check": "build your code and check a lab, a task or all",
    "test-yours": "run your own test of a lab on wrong versions of libmini's code",
    "quiz": "answer six questions about a lab; their numbers are drawn",
    "hint": "show a task's next hint",
    "diff": "compare your code of a task with the solution, after asking",
    "reset": "put a lab or a task back to its starter, with a backup",
    "submit": "pack your files of a lab into a zip, to hand in",
    "grade": "check all labs and add up points, in one of five formats",
    "mini": "run the tool mini, with --mine on your own code",
    "test": "build everything and run the tests",
    "setup": "install the Debian or Ubuntu packages that the build needs",
    "dev": "for authors and instructors: check the labs, export a course",
}
FOLDER = Path(__file__).parent / "verbs"
VERBS = {verb: what for verb, what in VERBS.items() if (FOLDER / f"{verb.replace('-', '_')}.py").exists()}

USAGE_EXIT = 2
INTERRUPTED_EXIT = 130
BROKEN_PIPE_EXIT = 141


def main(words):
    try:
        code = dispatch(words)
        sys.stdout.flush()  # if the reader has closed the pipe, the error occurs here
        return code
    except LabError as error:
        say(f"lab: {error}", file=sys.stderr)
        return 1
    except (KeyboardInterrupt, EOFError):  # Ctrl-C, or Ctrl-D as the answer to a question
        say("lab: stopped", file=sys.stderr)
        return INTERRUPTED_EXIT
    except BrokenPipeError:  # `labs/lab status | head -1`: the reader has closed the pipe
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return BROKEN_PIPE_EXIT
    except OSError as error:  # full disk, read-only folder, ...
        say(f"lab: {error.filename or 'the system'}: {error.strerror or error}; fix that, then "
            "run this again", file=sys.stderr)
        return 1


def dispatch(words):
    verb, rest = words[0] if words else "", words[1:]
    if verb in ("", "-h", "--help", "help"):
        print("usage: labs/lab VERB [OPTIONS]\n\nThe one command of libmini's labs.\n\nverbs:")
        print("\n".join(f"  {verb:10} {summary}" for verb, summary in VERBS.items()))
        print("\nlabs/lab VERB --help prints more. New here? Start with: labs/lab demo")
        return 0 if verb else USAGE_EXIT
    if verb not in VERBS:
        print(f"lab: there is no verb {verb!r}; verbs: {', '.join(VERBS)}", file=sys.stderr)
        return USAGE_EXIT
    lab00 = Path(__file__).parents[1] / "00-the-whole-idea" / "lab.py"  # has no tasks
    if verb in ("start", "check", "reset") and rest in (["0"], ["00"]) and lab00.exists():
        return runpy.run_path(str(lab00))[verb]()
    import argparse

    module = importlib.import_module(f"lab_tool.verbs.{verb.replace('-', '_')}")
    parser = argparse.ArgumentParser(prog=f"labs/lab {verb}", description=module.__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    getattr(module, "add_arguments", lambda parser: None)(parser)
    return module.run(parser.parse_args(rest))
