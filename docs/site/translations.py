"""The pages in Chinese, docs/zh: which English page each translates, what is stale, and the site's pages.

    <!-- of: labs/07-partition/README.md -->     the first line: the English page
    <!-- en: 1a2b3c4d -->                        before each part: the hash of its English paragraph

A part is all text up to the next such line. The hash depends on the words of the paragraph only, not on
line breaks. A page is stale where its hashes differ from those of the English page, in order.
"""

import hashlib
import html
import re
from difflib import SequenceMatcher
from pathlib import Path

from markdown import for_doxygen

ROOT = Path(__file__).resolve().parents[2]
LANGUAGE = "zh-Hans"
OF = re.compile(r"<!-- of: (\S+) -->\n")
PART = re.compile(r"^ *<!-- en: ([0-9a-f]{8}) -->\n", re.MULTILINE)
BLANK = re.compile(r"\n(?:[ \t]*\n)+")
NO_WORDS = ("<details", "</details", "<summary", "<!--")  # folds, and the places of figures and cards

LAB = re.compile(r"labs/(\d\d)-[\w-]+/README\.md")
LOCAL = re.compile(r"\[([^\]]*)\]\((?:#[\w-]+|(?:\.\./)+(?:[\w-]+/)+\w+\.cpp)\)")  # to a heading or a program
WIDE = "\u2018-\u201d\u2026\u3000-\u303f\u4e00-\u9fff\uff00-\uffef"  # characters between which no space is
MARKS = "\u2018-\u201d\u3001-\u3011\uff00-\uffef"  # punctuation
LINE_BREAK = re.compile(rf"(?<=[{WIDE}])\n *(?=[{WIDE}])|(?<=\S)\n *(?=[{MARKS}])"
                        rf"|(?<=[{MARKS}])\n *(?!\d+\. )(?=[\w`(\[])")
PERCENT = re.compile(rf"%(?=[{WIDE}])")  # Doxygen takes it for a mark before a word
BOLD = re.compile(r"\*\*([^*]+)\*\*")
ITALIC = re.compile(r"(?<!\*)\*([A-Za-z][^*]*)\*(?!\*)")


def is_code(block):
    return all(line.startswith("    ") for line in block.split("\n") if line)


def paragraphs(text):
    """Returns the paragraphs of a page that have words; code with blank lines in it is one paragraph."""
    found, after_code = [], False
    for block in filter(str.strip, BLANK.split(text)):
        has_words = not block.lstrip().startswith(NO_WORDS)
        if has_words and after_code and is_code(block):
            found[-1] += f"\n\n{block}"
        elif has_words:
            found.append(block)
        after_code = has_words and is_code(block)
    return found


def hash_of(paragraph):
    return hashlib.sha256(" ".join(paragraph.split()).encode()).hexdigest()[:8]


def start_of(text):
    """Returns the first words of a text."""
    line = " ".join(text.split())
    return line if len(line) <= 60 else line[:57] + "..."


class Translation:
    """A page of docs/zh."""

    def __init__(self, path, root=ROOT):
        self.name, self.root = f"zh_{path.stem}", root
        self.text = path.read_text(encoding="utf-8")
        first = OF.match(self.text)
        self.source = first[1] if first else ""
        self.before, *parts = PART.split(self.text[first.end() if first else 0:])
        self.hashes, self.parts = parts[::2], parts[1::2]

    @property
    def original(self):
        """The name of the English page on the site; "" if it has none there, such as README.md."""
        if lab := LAB.fullmatch(self.source):
            return f"lab{lab[1]}"
        return Path(self.source).stem if self.source.startswith("docs/pages/") else ""

    def faults(self):
        """Returns what is wrong with the form of the page."""
        checks = {
            "its first line is not <!-- of: PAGE -->": self.source,
            f"there is no page {self.source}": not self.source or (self.root / self.source).is_file(),
            "text before the first <!-- en: HASH -->": not self.before.strip(),
            "a mark is not a line <!-- en: HASH -->, with 8 hexadecimal digits":
                len(re.findall("<!-- *en", self.text)) == len(self.parts) > 0,
            "a part has no text": all(map(str.strip, self.parts)),
        }
        return [fault for fault, is_right in checks.items() if not is_right]

    def stale(self):
        """Returns a line for each paragraph that is not translated as it is now, and for each part whose
        paragraph is gone."""
        english = paragraphs((self.root / self.source).read_text(encoding="utf-8"))
        found = []
        matcher = SequenceMatcher(None, [hash_of(one) for one in english], self.hashes, autojunk=False)
        for kind, i, i_end, j, j_end in matcher.get_opcodes():
            if kind != "equal":
                found += [f"paragraph {k + 1} has changed or is new: {start_of(english[k])}"
                          for k in range(i, i_end)]
                found += [f"part {k + 1}: its paragraph is gone: {start_of(self.parts[k])}"
                          for k in range(j + i_end - i, j_end)]
        return found

    def page(self, labs):
        """Returns the Markdown for Doxygen. The tasks' hints are on the English pages."""
        body = LOCAL.sub(r"\1", "".join(self.parts))
        body = for_doxygen(prepared(body), "docs/zh", lambda path: "-".join(path.split("/")[-2:]))
        for task in (task for lab in labs for task in lab.tasks):
            anchor = "task" + task.name.replace(".", "_")
            body = body.replace(f"| {task.name} |", f"| [{task.name}](@ref {anchor}) |", 1)
        title, body = body.lstrip().split("\n", 1)
        toc = "\n[TOC]\n" if re.search("^## ", body, re.MULTILINE) else ""
        return f"{title} {{#{self.name}}}\n{toc}{body}"

    def links(self):
        """Returns {page of the site: HTML that links it to the same page in the other language}."""
        note = ""
        if count := len(self.stale()):
            note = (f'<p class="language stale">英文原文已有改动，本页有 {count} 段尚未跟上，请以'
                    f'<a href="{self.original}.html" hreflang="en">英文页面</a>为准。</p>')
        return {f"{self.original}.html": link(f"{self.name}.html", LANGUAGE, "中文"),
                f"{self.name}.html": link(f"{self.original}.html", "en", "English") + note}


def link(page, language, text):
    return (f'<p class="language"><a href="{page}" lang="{language}" hreflang="{language}">'
            f"{text}</a></p>")


def prepared(text):
    """Returns the text without line breaks next to Chinese characters, which would become spaces, and with
    tags for bold and italic text, which Doxygen finds only between spaces."""
    blocks = re.split(rf"({BLANK.pattern})", text)
    for i in range(0, len(blocks), 2):
        if not is_code(blocks[i]):
            joined = PERCENT.sub(r"\%", LINE_BREAK.sub("", blocks[i]))
            blocks[i] = ITALIC.sub(r"<em>\1</em>", BOLD.sub(r"<b>\1</b>", joined))
    return "".join(blocks)


def translations(root=ROOT):
    return [Translation(path, root) for path in sorted((root / "docs/zh").glob("*.md"))]


def pages_of_site():
    return [page for page in translations() if page.original]


def links():
    """Returns {page of the site: HTML that links it to the same page in the other language}."""
    return {name: text for page in pages_of_site() for name, text in page.links().items()}


def tabs(pages):
    """Returns the entries of the pages in the layout's tree: the start page, with the others below it."""
    others = sorted((page.name == "zh_glossary", page.name != "zh_labs", page.name, title_of(page))
                    for page in pages if page.name != "zh_index")
    inner = "".join(f'<tab type="user" url="@ref {name}" title="{html.escape(title)}"/>'
                    for *_, name, title in others)
    return f'<tab type="usergroup" url="@ref zh_index" title="中文">{inner}</tab>'


def title_of(page):
    return page.parts[0].strip().removeprefix("# ")
