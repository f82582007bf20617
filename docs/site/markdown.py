"""Converts a plain Markdown README into a page that Doxygen renders correctly."""

import html
import re
from pathlib import Path

IMAGE = re.compile(r"!\[([^\]]*)\]\(((?:[\w.-]+/)*[\w.-]+\.svg)\)")
HEADER = re.compile(r"`(libmini/(?:core|random|tensor|autograd|data|distributed|io|nn|optim|parallel)/[\w/]+\.hpp)`")
PAGE = re.compile(r"\]\((?:\.\./)+docs/pages/(\w+)\.md\)")  # a README's link to a page of the site
LAB = re.compile(r"\]\(\.\./(\d\d)-[\w-]+/(README|going_further)\.md\)")  # to another lab's page
PAGES = {"README": "", "going_further": "_further"}  # what a lab's page is named after labNN
# The headers and folders of headers that the site leaves out.
LEFT_OUT = tuple(re.findall(r"^(?:EXCLUDE *=)? *(libmini/[\w/.]+)",
                            (Path(__file__).parents[1] / "Doxyfile").read_text(), re.MULTILINE))
DETAILS = re.compile(r"^( *)<details>\s*<summary>([^<]*)</summary>\n(.*?)^ *</details>\n?",
                     re.DOTALL | re.MULTILINE)
PLAYER = re.compile(r"^<!-- figure: (\w+) -->$", re.MULTILINE)  # the place of a figure that moves
CODE_SPAN = re.compile(r"(`+[^`]+`+)")
ITALIC_LINK = re.compile(r"\[\*([^*\]]+)\*\](\([^)]+\))")  # Doxygen shows the asterisks


def figure(source, alt):
    """Returns a picture in a frame as wide as the page, with its alternative text."""
    words = html.escape(" ".join(alt.split()), quote=True)
    return ('\\htmlonly[block]\n<figure class="picture">'
            f'<img src="{source}" alt="{words}"/></figure>\n\\endhtmlonly')


def player(name):
    """Returns the place of a figure that moves, and the scripts that draw it there."""
    scripts = (f"figure_{name}.js", "figures.js", f"draw_{name}.js")
    return (f'\\htmlonly[block]\n<div class="player" data-figure="{name}"></div>' +
            "".join(f'<script src="{script}"></script>' for script in scripts) + "\n\\endhtmlonly")


def folded(kind, summary, text, indent=""):
    """Returns a folded part that opens on a click. Doxygen's own <details> ends at a blank line."""
    return (f'{indent}\\htmlonly[block]\n{indent}<details class="{kind}"><summary>{summary}</summary>\n'
            f"{indent}\\endhtmlonly\n{text}\n"
            f"{indent}\\htmlonly[block]\n{indent}</details>\n{indent}\\endhtmlonly\n")


def is_code(line, after_blank, in_code):
    return line.startswith("    ") and (in_code or after_blank)


def escaped(line):
    """Returns a line of prose with the @ of @y and the # of #7 escaped for Doxygen; text in backquotes
    is left unchanged."""
    parts = CODE_SPAN.split(line)
    for i in range(0, len(parts), 2):
        parts[i] = re.sub(r"(?<![\\`])@(?=\w)|(?<=[^#\s])#(?=\w)|(?<=\s)#(?=\w)",
                          lambda found: "\\" + found[0], parts[i])
    return "".join(parts)


def for_doxygen(text, picture=lambda name: name):
    """Returns the page's text for Doxygen. picture(name) must return the file name of a picture in the
    site's folder."""
    out, in_code, after_blank = [], False, True
    for line in text.split("\n"):
        if line.strip():
            in_code = is_code(line, after_blank, in_code)
        after_blank = not line.strip()
        out.append(line if in_code else escaped(line))
    text = IMAGE.sub(lambda found: figure(picture(found[2]), found[1]), "\n".join(out))
    text = DETAILS.sub(lambda found: folded("answer", found[2], found[3], found[1]), text)
    text = PLAYER.sub(lambda found: player(found[1]), text)
    text = LAB.sub(lambda found: f"](@ref lab{found[1]}{PAGES[found[2]]})",
                   PAGE.sub(r"](@ref \1)", text))
    return HEADER.sub(linked, ITALIC_LINK.sub(r"<em>[\1]\2</em>", text))


def linked(header):
    """Returns a header's name, as a link if the header has a page."""
    return header[0] if header[1].startswith(LEFT_OUT) else f"[{header[1]}](@ref {header[1]})"
