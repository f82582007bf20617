"""Makes the labs' pages: labNN from README.md, with the hints and the code of every task after the
tasks, and labNN_further from going_further.md.

The code is the text between the markers in the sources. The functions that write the starters find it,
so that the page shows exactly the code that is compiled and checked.
"""

import html
import re

from lab_tool.catalogue import Catalogue

from markdown import folded, for_doxygen

# The tasks are inserted before the first of these sections.
BEFORE = re.compile(r"^## (?:Pitfalls|Bug hunt|Questions)$", re.MULTILINE)
# A page's last link to the second page: there that page's place in the tree is.
LAST_LINK = re.compile(r"\[([^\]]*)\]\(going_further\.md\)(?!.*\(going_further\.md\))", re.DOTALL)
TIME = re.compile(r"^Time: (\d+)(?: to (\d+))? hours", re.MULTILINE)
PARTS = (("Part I: one process", "01", "06"), ("Part II: dividing the data", "07", "09"),
         ("Part III: talking", "10", "12"), ("Part IV: training together", "13", "16"),
         ("Part V: beyond", "17", "20"))


def page_of(lab):
    return f"lab{lab.number}"


def further_of(lab):
    return f"{page_of(lab)}_further"


def anchor_of(task):
    return "task" + task.name.replace(".", "_")


def read_labs(root):
    catalogue = Catalogue(root)
    return catalogue, catalogue.labs


def code(region):
    """Returns the region's code under its title, without the indentation that it has in its file."""
    lines = [f"{region.indent}// {region.title}", *region.body]
    return "\n".join(line.removeprefix(region.indent) for line in lines)


def solution(regions):
    parts = [f"`{region.path}`, line {region.first + 2}:\n\n"
             f"\\code{{.cpp}}\n{code(region)}\n\\endcode" for region in regions]
    return folded("solution", "The solution", "\n\n".join(parts))


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


def task_section(catalogue, lab, task):
    """Returns one task: ### 07.2 What, then "done when", the folded hints and the folded solution."""
    hints = [folded("hint", f"Hint {number}", with_code_first(for_doxygen(text)))
             for number, text in enumerate(lab.hints(task.name), 1)]
    return "\n".join([
        f"### {task.name} {task.what} {{#{anchor_of(task)}}}", "",
        f"Done when {for_doxygen(task.done_when)}.", "",
        *hints,
        solution(catalogue.regions_of(task=task.name)),
    ])


def body_of(lab, path):
    """Returns a page of a lab for Doxygen, without its title."""
    body = for_doxygen(path.read_text(encoding="utf-8").split("\n", 1)[1],
                       lambda name: f"{lab.folder.name}-{name}")
    body = LAST_LINK.sub(lambda link: f'\\subpage {further_of(lab)} "{" ".join(link[1].split())}"', body)
    return (body.replace("](going_further.md)", f"](@ref {further_of(lab)})")
            .replace("](README.md)", f"](@ref {page_of(lab)})"))


def lab_page(catalogue, lab):
    """Returns the Markdown for Doxygen: the README with links to the tasks and a section per task."""
    body = body_of(lab, lab.folder / "README.md")
    for task in lab.tasks:
        body = body.replace(f"| {task.name} |", f"| [{task.name}](@ref {anchor_of(task)}) |", 1)
    found = BEFORE.search(body)
    if not found:
        raise SystemExit(f"{lab.folder.name}/README.md has no section of {BEFORE.pattern}, "
                         "before which the tasks go in")
    sections = "\n".join(task_section(catalogue, lab, task) for task in lab.tasks)
    tasks = f"## The tasks one by one {{#{page_of(lab)}_tasks}}\n\n{sections}\n"
    body = body[:found.start()] + tasks + body[found.start():]
    return f"# Lab {lab.number} · {lab.title} {{#{page_of(lab)}}}\n\n[TOC]\n{body}"


def pages_of(catalogue, lab):
    """Returns {name of a page: its Markdown for Doxygen}."""
    pages = {page_of(lab): lab_page(catalogue, lab)}
    for path in lab.pages[1:]:
        pages[further_of(lab)] = (f"# Lab {lab.number} · {lab.title}: going further "
                                  f"{{#{further_of(lab)}}}\n\n[TOC]\n{body_of(lab, path)}")
    return pages


def cards(catalogue, labs):
    """Returns the labs as cards for the start page, part by part, with each part's hours and
    lines."""
    lines = ["\\htmlonly[block]"]
    for title, first, last in PARTS:
        inside = [lab for lab in labs if first <= lab.number <= last]
        if inside:
            lines += [f"<h2>{title}</h2>", f"<p>{extent_of(catalogue, inside)}</p>",
                      '<div class="cards">', *map(card, inside), "</div>"]
    return "\n".join([*lines, "\\endhtmlonly"])


def card(lab):
    return (f'<a class="card" href="{page_of(lab)}.html"><b>{lab.number}</b>'
            f"<strong>{html.escape(lab.title)}</strong><span>{len(lab.tasks)} tasks</span></a>")


def extent_of(catalogue, labs):
    """Returns the sums of the hours, as the labs' pages name them, and of the lines to write:
    "21 to 25 hours, 530 lines"."""
    least, most = map(sum, zip(*map(hours_of, labs)))
    lines = sum(bool(line.strip()) for lab in labs
                for region in catalogue.regions_of(lab=lab.number) for line in region.body)
    hours = f"{least}" if least == most else f"{least} to {most}"
    return f"{hours} hours, {lines} lines"


def hours_of(lab):
    """Returns the least and the most hours of a lab's page: (3, 4) for "Time: 3 to 4 hours"."""
    found = TIME.search((lab.folder / "README.md").read_text(encoding="utf-8"))
    if not found:
        raise SystemExit(f"{lab.folder.name}/README.md has no line such as: Time: 3 to 4 hours")
    return int(found[1]), int(found[2] or found[1])


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
