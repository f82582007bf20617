#!/usr/bin/env python3
"""Builds the site: writes its pages, and runs Doxygen on the pages and the headers. Fails on a warning.

    python3 docs/site/build.py --output build/release/docs --mini build/release/bin/mini

The start page is then build/release/docs/html/index.html. Without --mini the figures do not move. With
--for-class the site lacks what a course lacks, too: answers, third hints, instructors' pages. The exit
code is 77 when Doxygen is not installed.
"""

import argparse
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "labs"))

import figures  # noqa: E402
import components  # noqa: E402
import labs  # noqa: E402
import run_picture  # noqa: E402
import slides  # noqa: E402
import translations  # noqa: E402
from author_tool.export import HINTS, is_answer  # noqa: E402
from finish import finish  # noqa: E402
from markdown import for_doxygen, with_references  # noqa: E402

THEME = Path("/usr/share/doxygen-awesome-css")
STYLES = ("doxygen-awesome.css", "doxygen-awesome-sidebar-only.css",
          "doxygen-awesome-sidebar-only-darkmode-toggle.css")
SCRIPTS = {"doxygen-awesome-darkmode-toggle.js": "DoxygenAwesomeDarkModeToggle",
           "doxygen-awesome-fragment-copy-button.js": "DoxygenAwesomeFragmentCopyButton",
           "doxygen-awesome-paragraph-link.js": "DoxygenAwesomeParagraphLink"}
OWN_FILES = [*sorted((ROOT / "docs/site").glob("*.js")), ROOT / "docs/site/slides.css"]
SKIPPED = 77

# Members that need no documentation because name and type explain them: plain fields, accessors
# without arguments, operators, constructors. All other public members must be documented.
SPEAKS_FOR_ITSELF = re.compile(
    r"Member \S+ \(variable\) of (class|struct) |"
    r"Member operator.* \(function\) of (class|struct) |"
    r"Member (?P<made>\w+)\(.*\(function\) of (class|struct) (\w+::)*(?P=made) |"
    r"Member [a-z_]+\(\)( const)?( override)?( ?=0)? \(function\) of (class|struct) ")
UNDOCUMENTED = " is not documented."
# What works on a page of the repository, and what it becomes for Doxygen; besides its links to pages.
PLAIN = {
    r"\]\(\.\./figures/([\w.]+)\)": r"](figures-\1)",
    "<!-- contents -->": "[TOC]",
    r"<!-- file: (\S+) -->": r"\\include \1",
}

INSTRUCTORS = ("grading", "instructors", "syllabus")
LINK = re.compile(rf"\[([^\]]*)\]\(@ref (?:{'|'.join(INSTRUCTORS)})\)")
TAB = re.compile(rf' *<tab [^>]*"@ref (?:{"|".join(INSTRUCTORS)})"[^>]*>\n')
MENU = re.compile(r"<navindex>.*</navindex>\n", re.DOTALL)
# A folded part as markdown.folded() writes it.
FOLD = re.compile(r'^( *)\\htmlonly\[block\]\n *<details class="(\w+)"><summary>(.*?)</summary>\n.*?</details>\n'
                  r" *\\endhtmlonly\n", re.MULTILINE | re.DOTALL)


def for_students(text):
    """Returns a page for Doxygen without answers, third hints, and links to pages for instructors."""
    def kept(fold):
        is_hint = fold[2] == "hint" and int(fold[3].split()[-1]) <= HINTS
        return fold[0] if is_hint or fold[2] == "answer" and not is_answer(text, fold) else ""

    return LINK.sub(r"\1", FOLD.sub(kept, text))


def named(path):
    """Returns the text of a page of docs/pages for Doxygen: with its name, and with references in place
    of plain links."""
    name = "mainpage" if path.stem == "index" else path.stem
    text = path.read_text(encoding="utf-8").replace("\n", f" {{#{name}}}\n", 1)
    text = with_references(text, "docs/pages")
    for plain, special in PLAIN.items():
        text = re.sub(plain, special, text)
    return text


def write_pages(output, found, is_for_class):
    """Writes the pages, those of the labs `found` too, and the menu into the layout."""
    translated = translations.pages_of_site()
    parts = {"<!-- cards -->": labs.cards(found), "<!-- subpages -->": labs.subpages(found),
             "<!-- tabs -->": labs.tabs(found), "<!-- translations -->": translations.tabs(translated),
             "<!-- components -->": components.page_part(ROOT)}
    pages = {path.name: named(path) for path in sorted((ROOT / "docs/pages").glob("*.md"))}
    for lab in found:
        pages |= {f"{name}.md": text for name, text in labs.pages_of(lab).items()}
    pages |= {f"{page.name}.md": page.page(found) for page in translated}
    text = (ROOT / "docs/measurements.md").read_text(encoding="utf-8")
    pages["measurements.md"] = for_doxygen(text, "docs").replace(
        "\n", " {#measurements}\n\n[TOC]\n", 1)
    menu = (ROOT / "docs/site/menu.xml").read_text(encoding="utf-8")
    if is_for_class:
        menu = TAB.sub("", menu)
        pages = {name: for_students(text) for name, text in pages.items()
                 if name.removesuffix(".md") not in INSTRUCTORS}
    for name, text in pages.items():
        (output / "pages" / name).write_text(filled(text, parts), encoding="utf-8")
    layout = output / "layout.xml"
    before, after = MENU.split(layout.read_text(encoding="utf-8"))
    layout.write_text(before + filled(menu, parts) + after, encoding="utf-8")


def filled(text, parts):
    for mark, part in parts.items():
        text = text.replace(mark, part)
    return text


def copy_pictures(output):
    """Copies all pictures into one folder, under unique names; returns the copies."""
    copies = []
    patterns = ("labs/*/*.svg", "docs/figures/*.svg", "docs/figures/*.png")
    for picture in [path for pattern in patterns for path in sorted(ROOT.glob(pattern))]:
        copy = output / "pictures" / f"{picture.parent.name}-{picture.name}"
        shutil.copy(picture, copy)
        copies.append(copy)
    return copies


def write_templates(output, doxygen):
    """Writes the layout and the page header of the installed Doxygen version."""
    for words in ("-l layout.xml", "-w html header.html footer.html style.css"):
        subprocess.run([doxygen, *words.split()], cwd=output, check=True, stdout=subprocess.DEVNULL)


def complete_header(output):
    """Adds our scripts to the end of the page header, and its language."""
    header = output / "header.html"
    lines = ['<meta name="viewport" content="width=device-width, initial-scale=1"/>',
             '<script type="text/javascript" src="$relpath^site.js"></script>']
    for file, name in SCRIPTS.items():
        if (THEME / file).exists():
            lines.append(f'<script type="text/javascript" src="$relpath^{file}"></script>'
                         f'<script type="text/javascript">{name}.init()</script>')
    text = header.read_text(encoding="utf-8").replace("<html ", '<html lang="en" ', 1)
    header.write_text(text.replace("</head>", "\n".join(lines) + "\n</head>"), encoding="utf-8")


def settings(output, files):
    """Returns the environment variables that docs/Doxyfile reads."""
    styles = [THEME / name for name in STYLES if (THEME / name).exists()]
    scripts = [THEME / name for name in SCRIPTS if (THEME / name).exists()]
    return {
        "MINI_SITE": str(output),
        "MINI_PYTHON": sys.executable,
        "MINI_STYLES": " ".join(map(str, [*styles, ROOT / "docs/site/site.css"])),
        "MINI_FILES": " ".join(map(str, [*scripts, *OWN_FILES, *files])),
        "MINI_HAVE_DOT": "YES" if shutil.which("dot") else "NO",
    }


def doxyfile(doxygen):
    """Returns docs/Doxyfile, with the settings that only newer versions of Doxygen know."""
    text = (ROOT / "docs/Doxyfile").read_text(encoding="utf-8")
    version = subprocess.run([doxygen, "--version"], check=True, text=True, capture_output=True).stdout
    if tuple(map(int, re.findall(r"\d+", version)[:3])) >= (1, 9, 5):
        text += "\nHTML_COLORSTYLE = LIGHT\n"  # the theme has dark colours of its own
    return text


def counted_warnings(text):
    """Returns the warnings that must be fixed, without duplicates: Doxygen repeats the warnings of base
    classes."""
    return [line for line in dict.fromkeys(text.splitlines())
            if line.strip() and not (line.endswith(UNDOCUMENTED) and SPEAKS_FOR_ITSELF.search(line))]


def build(output, mini=None, programs=None, is_for_class=False):
    doxygen = shutil.which("doxygen")
    if not doxygen:
        print("docs: doxygen is not installed; labs/lab setup installs it", file=sys.stderr)
        return SKIPPED
    shutil.rmtree(output, ignore_errors=True)
    for folder in ("pages", "pictures"):
        (output / folder).mkdir(parents=True)
    found = labs.read_labs(ROOT)
    write_templates(output, doxygen)
    write_pages(output, found, is_for_class)
    complete_header(output)
    files = copy_pictures(output)
    if programs:
        run_picture.take(programs, output / "pictures/figures-run_report.png")
    files += (figures.write_data(mini, output) if mini else [])
    env = {**os.environ, **settings(output, files)}
    run = subprocess.run([doxygen, "-"], cwd=ROOT, env=env, text=True, input=doxyfile(doxygen),
                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    warnings = counted_warnings((output / "warnings.txt").read_text(encoding="utf-8"))
    if run.returncode or warnings:
        print(run.stderr, *warnings, f"docs: {len(warnings)} warnings", sep="\n", file=sys.stderr)
        return 1
    titles = {lab.number: lab.title for lab in found if lab.tasks}
    links = translations.links()
    for number in titles:
        links[f"lab{number}.html"] = slides.link(number) + links.get(f"lab{number}.html", "")
    finish(output / "html", links)
    slides.write_slides(output / "html", titles)
    print(f"docs: {output / 'html/index.html'}")
    return 0


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--output", type=Path, required=True, help="a folder; it is replaced")
    parser.add_argument("--mini", type=Path, help="libmini's program, which makes the figures' numbers")
    parser.add_argument("--programs", type=Path, metavar="FOLDER", help="libmini's programs, which take "
                        "the picture of a run report; without them docs/figures has it")
    parser.add_argument("--for-class", action="store_true", help="without answers, for students")
    options = parser.parse_args()
    sys.exit(build(options.output.resolve(), options.mini and options.mini.resolve(),
                   options.programs and options.programs.resolve(), options.for_class))


if __name__ == "__main__":
    main()
