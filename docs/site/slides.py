"""Makes slides of the labs from their pages in the site: slidesNN.html, for a screen and for paper.

A slide has a section of the page: its heading, the first sentences of each paragraph, and one picture,
listing, table or figure that moves; a second one has a slide of its own. A paragraph that asks is there
up to its last question, or not at all. So the labs' pages are the only text. Left out are the tasks,
what belongs to them, and answers. Lab 00 has no slides: its page leads through two programs.
"""

import html
import re

from finish import CONTENTS

MOST_SENTENCES, MOST_WITH_MEDIUM = 6, 3  # of a slide
MOST_LINES = 16  # of a listing or a table
MOST_LETTERS, MOST_LETTERS_WITH_MEDIUM = 1000, 500  # of a slide that asks
LEFT_OUT = ("What you write", "Run it", "The tasks one by one", "Bug hunt", "Pitfalls")
SECTION = re.compile(r"<h([23])[^>]*>(.*?)</h\1>", re.DOTALL)
FOLD = re.compile(r"<details.*?</details>", re.DOTALL)
BLOCK = re.compile(r'<figure.*?</figure>|<pre.*?</pre>|<div class="fragment">.*?</div><!-- fragment -->'
                   r'|<table.*?</table>|<div class="player".*?(?=\n)'
                   r"|<(?:p|li)\b[^>]*>(?:(?!</?(?:p|li|ul|ol|h\d|div|pre|table|figure)\b).)+", re.DOTALL)
TEXTS, FIGURES = ("<p ", "<p>", "<li"), ("<figure", '<div class="player"')
SENTENCE = re.compile(r"(?<=[.!?])\s+(?=[A-Z<])")
TAG = re.compile(r"<(/?)(\w+)[^>]*>")
LINK = re.compile(r"</?a\b[^>]*>")
PAGE = """\
<!DOCTYPE html>
<html lang="en"><head><meta charset="utf-8"><title>{title}: slides</title>
<meta name="viewport" content="width=device-width, initial-scale=1">
<link rel="stylesheet" href="site.css"><link rel="stylesheet" href="slides.css">
<script src="site.js"></script></head>
<body><main class="contents">
{slides}
</main></body></html>
"""


def is_whole(text):
    """Returns whether each tag that begins in a text also ends there."""
    opened = [0]
    for end, _ in TAG.findall(text):
        opened.append(opened[-1] + (-1 if end else 1))
    return opened[-1] == 0


def first_sentences(text, most):
    """Returns the beginning of a paragraph, up to an end of a sentence that is outside of its tags, and
    not before its last question."""
    parts = SENTENCE.split(" ".join(LINK.sub("", text).split()))
    asked = max((count for count, part in enumerate(parts, 1) if "?" in part), default=0)
    least = max(asked, min(most, len(parts)))
    wholes = (" ".join(parts[:count]) for count in range(least, len(parts) + 1))
    return next(filter(is_whole, wholes), "")


def slides_of(title, body):
    """Returns the slides of a section: (title, its parts in their order), where a part is a sentence or
    one of the media. A slide ends before a second large one, and before the sentence above it."""
    blocks = [block for block in BLOCK.findall(FOLD.sub("", body)) if block.count("\n") <= MOST_LINES]
    texts = [block for block in blocks if block.startswith(TEXTS)]
    most, letters = ((MOST_SENTENCES, MOST_LETTERS) if len(texts) == len(blocks) else
                     (MOST_WITH_MEDIUM, MOST_LETTERS_WITH_MEDIUM))
    slides, has_medium = [[]], False
    for block in blocks:
        is_text = block.startswith(TEXTS)
        is_large = not is_text and (block.count("\n") > 1 or not block.startswith("<pre"))
        if is_large and has_medium:
            slides.append([slides[-1].pop()] if slides[-1][-1].startswith("<p>") else [])
        has_medium = is_large or has_medium
        if is_text:
            told = first_sentences(block.partition(">")[2], max(1, most // len(texts)))
            before = [part for part in slides[-1] if part.startswith("<p>")]
            is_full = len(before) >= most or "?" in told and len("".join([*before, told])) > letters
            block = f"<p>{told}</p>" * (told != "" and not is_full)
        slides[-1] += [block] * (block != "")
    return [(title, parts) for parts in slides if parts]


def sections_of(page):
    """Returns (title, level, body) of each section of a page's contents; the title of the first is ""."""
    text = page.partition(CONTENTS)[2].partition('<div class="textblock">')[2]
    parts = SECTION.split(text.partition("<!-- contents -->")[0])
    return [("", 2, parts[0])] + [(LINK.sub("", title).strip(), int(level), body)
                                  for level, title, body in zip(parts[1::3], parts[2::3], parts[3::3])]


def deck(title, page, further):
    """Returns the slides of a lab. Of its second page come only the figures."""
    found, is_out = [], False
    for head, level, body in sections_of(page):
        is_out = head in LEFT_OUT if level == 2 else is_out
        if not is_out:
            found += slides_of(head or title, body)
    for head, _, body in sections_of(further):
        found += [(head, [block]) for block in BLOCK.findall(body) if block.startswith(FIGURES)]
    return found


def written(number, title, slides):
    def section(place, slide):
        level = "h2" if place else "h1"
        parts = "\n".join(slide[1])
        return (f"<section><{level}>{slide[0]}</{level}>\n{parts}"
                f'<footer><a href="lab{number}.html">{html.escape(title)}</a> {place + 1}</footer>'
                "</section>")

    return PAGE.format(title=html.escape(title), slides="\n".join(
        map(section, range(len(slides)), slides)))


def link(number):
    """Returns the HTML that links a lab's page to its slides."""
    return f'<p class="language"><a href="slides{number}.html" lang="en">Slides</a></p>'


def write_slides(folder, labs):
    """Writes the slides into the site's folder. `labs`: {number: title}."""
    for number, name in labs.items():
        title = f"Lab {number} · {name}"
        page, further = ((folder / f"lab{number}{kind}.html").read_text(encoding="utf-8")
                         for kind in ("", "_further"))
        text = written(number, title, deck(title, page, further))
        (folder / f"slides{number}.html").write_text(text, encoding="utf-8")
