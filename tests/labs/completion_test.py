"""The completion of labs/lab in bash: its words are those of the verbs and of their parsers."""

import argparse
import importlib
import subprocess
import unittest

from lab_tool import cli
from lab_tool.completion import completions

# Completes each command line of "$@", whose words are separated by "|".
DRIVER = """
source <(labs/lab completion bash) || exit
complete -p lab mini minirun
for line; do
    IFS='|' read -ra COMP_WORDS <<< "$line."; COMP_WORDS[-1]=${COMP_WORDS[-1]%.}
    COMP_CWORD=$((${#COMP_WORDS[@]} - 1)); COMPREPLY=()
    _libmini_complete "${COMP_WORDS[0]}"
    echo "${COMPREPLY[@]}"
done
"""


def bash(*lines):
    """Returns the lines of `complete -p`, and the completions of each command line."""
    done = subprocess.run(["bash", "-c", DRIVER, "bash", *lines], capture_output=True, text=True)
    if done.returncode or done.stderr:
        raise AssertionError(done.stderr)
    output = done.stdout.splitlines()
    return output[:3], [line.split() for line in output[3:]]


class Completion(unittest.TestCase):
    def test_bash_offers_the_verbs_and_the_options_of_the_program(self):
        registered, found = bash("labs/lab|", "labs/lab|st", "labs/lab|check|7|--", "labs/lab|check|7|h",
                                 "labs/lab|test|--preset|=|de", "labs/lab|no-such-verb|")
        for line in registered:
            self.assertRegex(line, "^complete -o default -F _libmini_complete (lab|mini|minirun)$")
        self.assertEqual(found, [list(cli.VERBS), ["status", "start"], ["--help", "--all-mine"],
                                 ["hunt"], ["debug"], []])

    def test_every_long_option_of_every_verb_is_offered(self):
        for verb in cli.VERBS:
            parser = argparse.ArgumentParser()
            importlib.import_module(f"lab_tool.verbs.{verb}").add_arguments(parser)
            usage = parser.format_help()
            offered = completions([verb, "--"])
            self.assertIn("--help", offered)
            for option in offered:
                self.assertIn(option, usage, verb)
            for word in usage.replace("[", " ").replace("]", " ").replace(",", " ").split():
                if word.startswith("--") and len(word) > 2:
                    self.assertIn(word.split("=")[0], offered, verb)

    def test_actions_and_their_options(self):
        self.assertEqual(completions(["dev", ""]), ["check", "export", "package"])
        self.assertEqual(completions(["dev", "check", "--"]), ["--help", "--lab"])
        self.assertEqual(completions(["dev", "nonsense", ""]), [])

    def test_the_word_after_an_option_is_its_value(self):
        self.assertEqual(completions(["test", "--preset", ""]), ["release", "debug", "tsan"])
        self.assertEqual(completions(["demo", "--epochs", "--"]), [])
        self.assertEqual(completions(["grade", "--format", "j"]), ["json", "junit"])

    def test_no_words_are_the_verbs(self):
        self.assertEqual(completions([]), list(cli.VERBS))
        self.assertEqual(completions(["--h"]), ["--help"])


if __name__ == "__main__":
    unittest.main()
