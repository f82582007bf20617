"""The words that may follow on a command line of labs/lab, for a shell's completion.

The verbs and their argparse parsers list them. Bash makes three words of "--preset=debug".
"""

import importlib

from lab_tool.cli import VERBS, parser_of


def completions(words):
    """Returns the words that may stand in place of the last one, which is the beginning of a word."""
    *before, last = [word for word in words[:-1] if word != "="] + (words[-1:] or [""])
    last = "" if last == "=" else last
    if not before:
        found = ["--help"] if last.startswith("-") else VERBS
    elif before[0] in VERBS:
        module = importlib.import_module(f"lab_tool.verbs.{before[0]}")
        found = candidates(parser_of(before[0], module), before[1:], last)
    else:
        found = []
    return [word for word in found if word.startswith(last)]


def candidates(parser, before, last):
    """Follows the words before the last one; returns all words that `parser` allows after them."""
    options = parser._option_string_actions  # argparse has no public list of its arguments
    positionals = [action for action in parser._actions if not action.option_strings]
    expects_value = None
    for i, word in enumerate(before):
        if expects_value:
            expects_value = None
        elif word in options:
            expects_value = options[word] if options[word].nargs != 0 else None
        elif positionals and isinstance(positionals[0].choices, dict):  # subparsers
            chosen = positionals[0].choices.get(word)
            return candidates(chosen, before[i + 1:], last) if chosen else []
        elif positionals and positionals[0].nargs not in ("*", "+", "..."):
            positionals.pop(0)
    if expects_value:
        return list(expects_value.choices or ())
    if last.startswith("-") or not positionals:
        return [word for word in options if word.startswith("--")]
    return list(positionals[0].choices or ())
