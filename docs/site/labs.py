"""Makes the labs' pages: labNN from README.md, with the hints of every task after the tasks, and
labNN_further from going_further.md. They do not show the solutions.
"""

import html
import re

from lab_tool.catalogue import Catalogue

from markdown import folded, for_doxygen

# The tasks are inserted before the first of these sections.
BEFORE = re.compile(r"^## (?:Pitfalls|Bug hunt|Questions)$", re.MULTILINE)
# A link to a heading, a program or a header.
LOCAL = re.compile(r"\[([^\]]*)\]\((?:#[\w-]+|\w+\.cpp|\.\./\.\./libmini/[\w/.]+)\)")
TIME = re.compile(r"^Time: (\d+) hours", re.MULTILINE)
PARTS = (("To begin with", "00", "00"), ("Part I: one process", "01", "06"),
         ("Part II: dividing the data", "07", "09"), ("Part III: talking", "10", "12"),
         ("Part IV: training together", "13", "16"), ("Part V: beyond", "17", "22"))


def page_of(lab):
    return f"lab{lab.number}"


def further_of(lab):
    return f"{page_of(lab)}_further"


def anchor_of(task):
    return "task" + task.name.replace(".", "_")


def read_labs(root):
    catalogue = Catalogue(root)
    return [catalogue.lab00, *catalogue.labs]


def with_code_first(text):
    """Returns the text, with code at its beginning put into \\code: Doxygen treats indented lines as
    code only after a paragraph."""
    lines = text.split("\n")
    prose = (number for number, line in enumerate(lines) if line and not line.startswith("    "))
    first = next(prose, len(lines))
    if first == 0:
        return text
    code = "\n".join(line.removeprefix("    ") for line in lines[:first]).rstrip("\n")
    return "\n".join([f"\\code{{.cpp}}\n{code}\n\\endcode\n", *lines[first:]])


def task_section(lab, task):
    """Returns one task: ### 07.2 What, then "done when" and the folded hints."""
    hints = [folded("hint", f"Hint {number}", with_code_first(for_doxygen(text)))
             for number, text in enumerate(lab.hints(task.name), 1)]
    return "\n".join([
        f"### {task.name} {task.what} {{#{anchor_of(task)}}}", "",
        f"Done when {for_doxygen(task.done_when)}.", "",
        *hints,
    ])


def body_of(lab, path):
    """Returns a page of a lab for Doxygen, without its title."""
    text = LOCAL.sub(r"\1", path.read_text(encoding="utf-8").split("\n", 1)[1])
    body = for_doxygen(text, f"labs/{lab.folder.name}", lambda name: f"{lab.folder.name}-{name}")
    # The last link to the second page is that page's place in the tree.
    last = rf"\[([^\]]*)\]\(@ref {further_of(lab)}\)(?!.*\(@ref {further_of(lab)}\))"
    return re.sub(last, lambda link: f'\\subpage {further_of(lab)} "{" ".join(link[1].split())}"', body,
                  flags=re.DOTALL)


def lab_page(lab):
    """Returns the Markdown for Doxygen: the README with links to the tasks and a section per task."""
    body = body_of(lab, lab.folder / "README.md")
    head = f"# Lab {lab.number} · {lab.title} {{#{page_of(lab)}}}\n\n[TOC]\n"
    if not lab.tasks:
        return head + body
    for task in lab.tasks:
        body = body.replace(f"| {task.name} |", f"| [{task.name}](@ref {anchor_of(task)}) |", 1)
    found = BEFORE.search(body)
    if not found:
        raise SystemExit(f"{lab.folder.name}/README.md has no section of {BEFORE.pattern}, "
                         "before which the tasks go in")
    sections = "\n".join(task_section(lab, task) for task in lab.tasks)
    tasks = f"## The tasks one by one {{#{page_of(lab)}_tasks}}\n\n{sections}\n"
    return head + body[:found.start()] + tasks + body[found.start():]


def pages_of(lab):
    """Returns {name of a page: its Markdown for Doxygen}."""
    pages = {page_of(lab): lab_page(lab)}
    for path in lab.pages[1:]:
        pages[further_of(lab)] = (f"# Lab {lab.number} · {lab.title}: going further "
                                  f"{{#{further_of(lab)}}}\n\n[TOC]\n{body_of(lab, path)}")
    return pages


def cards(labs):
    """Returns the labs as cards for the start page, part by part, with each part's hours."""
    lines = ["\\htmlonly[block]"]
    for title, first, last in PARTS:
        inside = [lab for lab in labs if first <= lab.number <= last]
        if inside:
            lines += [f"<h2>{title}</h2>", f"<p>{sum(map(hours_of, inside))} hours</p>",
                      '<div class="cards">', *map(card, inside), "</div>"]
    return "\n".join([*lines, "\\endhtmlonly"])


def card(lab):
    tasks = f"{len(lab.tasks)} tasks" if lab.tasks else "one program to read"
    return (f'<a class="card" href="{page_of(lab)}.html"><b>{lab.number}</b>'
            f"<strong>{html.escape(lab.title)}</strong><span>{tasks}</span></a>")


def hours_of(lab):
    """Returns the hours of a lab's page: 4 for "Time: 4 hours"."""
    found = TIME.search((lab.folder / "README.md").read_text(encoding="utf-8"))
    if not found:
        raise SystemExit(f"{lab.folder.name}/README.md has no line such as: Time: 4 hours")
    return int(found[1])


def subpages(labs):
    return "\n".join(f"- \\subpage {page_of(lab)}" for lab in labs)


def tabs(labs):
    return "\n".join(map(tab, labs))


def tab(lab):
    """Returns the lab's entry in the layout's tree of pages, with its second page below it."""
    kind, inner = "user", "/>"
    if lab.pages[1:]:
        kind = "usergroup"
        inner = f'><tab type="user" url="@ref {further_of(lab)}" title="Going further"/></tab>'
    return (f'<tab type="{kind}" url="@ref {page_of(lab)}" '
            f'title="{lab.number} {html.escape(lab.title)}"{inner}')
