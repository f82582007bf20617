"""The pages of labs as students of a course see them: without the answers to the bug hunts and
questions. The answers are in libmini's own pages.

An answer is a fold (<details>). Those of a warm-up stay, since it is no hand-in, and so does a
hunt's "Where to look".
"""

import re

FOLD = re.compile(r"^(?P<indent> *)<details>.*?^(?P=indent)</details>\n+", re.MULTILINE | re.DOTALL)
SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
HEADING = re.compile(r"^#{2,3} +(.*)$", re.MULTILINE)
WITHOUT_ANSWER = "Where to look"
WARM_UP = "Warm-up"


def without_answers(text):
    """Returns a lab's page without answers."""
    return FOLD.sub(lambda fold: "" if is_answer(text, fold) else fold[0], text)


def is_answer(text, fold):
    """Returns whether a fold of a page, a match of FOLD, is an answer."""
    heading = ([""] + HEADING.findall(text[:fold.start()]))[-1]
    summary = SUMMARY.search(fold[0])
    return not heading.startswith(WARM_UP) and not (
        summary and summary[1].strip() == WITHOUT_ANSWER)
