"""The pages of labs as students of a course see them: without the answers to the bug hunts and
questions, and without the commands that a course lacks. The answers go to a file for instructors.

An answer is a fold (<details>). Those of a warm-up stay, since it is no hand-in, and so does a
hunt's "Where to look".
"""

import re

FOLD = re.compile(r"^(?P<indent> *)<details>.*?^(?P=indent)</details>\n+", re.MULTILINE | re.DOTALL)
SUMMARY = re.compile(r"<summary>(.*?)</summary>", re.DOTALL)
HEADING = re.compile(r"^#{2,3} +(.*)$", re.MULTILINE)
WITHOUT_ANSWER = "Where to look"
WARM_UP = "Warm-up"
REFUSED = r"labs/lab (?:diff|solution|dev|test)\b"
LINE = re.compile(rf"^(?: {{4}}|\|).*{REFUSED}.*\n", re.MULTILINE)
PARAGRAPH = re.compile(rf"^(?! {{4}}|\||#)(?:.+\n)*?.*{REFUSED}.*\n(?:.+\n)*", re.MULTILINE)
SENTENCE = re.compile(r"(?<=[.:?!])\s+(?=[A-Z(`])")


def split(text):
    """Returns a lab's page without answers, and the answers as (heading, question, answer)."""
    answers = []

    def cut(fold):
        heading = ([""] + HEADING.findall(text[:fold.start()]))[-1]
        summary = SUMMARY.search(fold[0])
        if heading.startswith(WARM_UP) or summary and summary[1].strip() == WITHOUT_ANSWER:
            return fold[0]
        before = FOLD.sub("", text[:fold.start()]).rstrip()
        answers.append((heading, before.split("\n\n")[-1], body_of(fold[0])))
        return ""

    return FOLD.sub(cut, text), answers


def body_of(fold):
    """Returns the text of a fold, not indented."""
    text = re.sub(r"</?details>|<summary>.*?</summary>", "", fold, flags=re.DOTALL)
    return "\n".join(line.removeprefix("   ") if not line.startswith("    ") else line
                     for line in text.strip("\n").split("\n")).strip()


def without_refused(text):
    """Returns a page without the lines and sentences that name a verb that a course lacks."""
    return PARAGRAPH.sub(lambda paragraph: shorter(paragraph[0]), LINE.sub("", text))


def shorter(paragraph):
    """Returns a paragraph without the sentences that name such a verb."""
    kept = [sentence for sentence in SENTENCE.split(paragraph.strip())
            if not re.search(REFUSED, sentence)]
    return "\n".join(line for line in " ".join(kept).split("\n")) + "\n" if kept else ""


def answer_book(name, pages):
    """Returns the file for instructors. `pages`: (lab, its answers)."""
    parts = [f"# Answers: {name}\n\nFor instructors only: the students' pages lack them.\n"]
    for lab, answers in pages:
        parts.append(f"\n## Lab {lab.number} · {lab.title}\n")
        last = ""
        for heading, question, answer in answers:
            parts += [f"\n### {heading}\n"] if heading != last else []
            parts.append(f"\n{question.strip()}\n\n**Answer.** {answer}\n")
            last = heading
    return "".join(parts)
