"""Comments, messages, names of tests and pages contain no phrase of BANNED.

The reader is a student whose first language may not be English, and who searches for the field's
terms (docs/CONTRIBUTING.md, "Words"). This test reads the comments and strings of sources, all lines of
scripts, and the text of pages without the code in it.
"""

import re
import unittest
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]

# A phrase, and what to write instead.
BANNED = {
    r"\bnobody\b": "no rank, no thread, no process: the noun",
    r"\bsomebody\b": "a rank, a caller, another process: the noun",
    r"\bwhoever\b": "the rank that ..., a client that ...: the noun",
    r"\banew\b": "again, rebuilt, restarted",
    r"\b(?:is|are) to bring\b": "sends, provides",
    r"\bthe bringing of\b": "broadcast of, transfer of",
    r"\bburies\b": "reaps",
    r"\bat the door\b": "during the handshake",
    r"\b(?:is|are) no other rank\b": "an invalid peer",
    r"\bis not said\b": "is unspecified",
    r"\beverybody\b": "all ranks, all threads: the noun",
    r"\bfor ever\b": "forever",
    r"\bmakes? no sense\b": "is invalid",
    r"\bto the bit\b": "bitwise identical",
    r"\bunder way\b": "running, in flight",
    r"\bwhole numbers?\b": "an integer",
    r"\blets? go of\b": "frees, ends, leaves: what is done",
    r"\balso if\b": "even if",
    r"\b(?:the|its) begin\b(?!\()": "the start",
    r"\bmended\b": "fixed",
    r"\brungs?\b": "a variant",
    r"\bseats?\b": "a registration",
    r"\bknock(?:s|ed|ing)?\b": "connects to a port",
}
ANY = re.compile("|".join(BANNED), re.I)

SOURCES = {".hpp", ".cpp", ".cu"}
TEXT = re.compile(r"\"((?:\\.|[^\"\\\n])*)\"|//([^\n]*)")  # a string or a comment
CODE_IN_PAGE = re.compile(r"```.*?```|`[^`]*`", re.S)


def prose(path):
    """Yields (line number, text) for each comment, string, or line of prose in a file."""
    text = path.read_text(encoding="utf-8")
    if not ANY.search(text):  # most files, and one search for all phrases
        return
    if path.suffix in SOURCES:
        for found in TEXT.finditer(text):
            yield text.count("\n", 0, found.start()) + 1, found[1] or found[2] or ""
    elif path.suffix == ".py":
        yield from enumerate(text.split("\n"), 1)
    else:
        plain = CODE_IN_PAGE.sub(lambda found: "\n" * found[0].count("\n"), text)
        yield from enumerate(plain.split("\n"), 1)


def banned_in(text):
    return [(found[0], instead) for phrase, instead in BANNED.items()
            for found in re.finditer(phrase, text, re.I)]


def files():
    for folder in ("libmini", "labs", "tests", "docs"):
        for path in sorted((ROOT / folder).rglob("*")):
            if (path.suffix in SOURCES | {".md", ".py"} or path.name == "quiz.json") and (
                    path != Path(__file__).resolve()):
                yield path
    yield from sorted(ROOT.glob("*.md"))


class Words(unittest.TestCase):
    def test_no_phrase_of_the_list(self):
        found = [f"{path.relative_to(ROOT)}:{line}: \"{phrase}\": write {instead}"
                 for path in files()
                 for line, text in prose(path) for phrase, instead in banned_in(text)]
        self.assertEqual(found, [], "\n" + "\n".join(found))


class TheRules(unittest.TestCase):
    def test_a_phrase_is_found_in_any_case_and_only_as_a_word(self):
        self.assertEqual([phrase for phrase, _ in banned_in("Nobody makes it anew; canew.")],
                         ["Nobody", "anew"])
        self.assertEqual(banned_in("The rank that sends rebuilds it."), [])


if __name__ == "__main__":
    unittest.main()
