"""Converts a plain Markdown README into a page that Doxygen renders correctly."""

import html
import posixpath
import re
from pathlib import Path

IMAGE = re.compile(r"!\[([^\]]*)\]\(((?:[\w.-]+/)*[\w.-]+\.svg)\)")
HEADER = re.compile(r"`(libmini/(?:core|random|tensor|autograd|data|distributed|io|nn|optim|parallel)/[\w/]+\.hpp)`")
LINK = re.compile(r"\]\(([\w./-]+\.(?:md|hpp))\)")
# The files that have a page on the site, and the names of these pages.
NAMES = {
    r"docs/(?:pages/)?(\w+)\.md": r"\1",
    r"docs/zh/(\w+)\.md": r"zh_\1",
    r"labs/(\d\d)-[\w-]+/README\.md": r"lab\1",
    r"labs/(\d\d)-[\w-]+/going_further\.md": r"lab\1_further",
    r"(libmini/[\w/]+\.hpp)": r"\1",
}
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


def with_references(text, folder):
    """Returns the text of a page in a folder of the repository, with Doxygen's references in place of its
    links to files that have a page on the site."""
    def reference(link):
        target = posixpath.normpath(f"{folder}/{link[1]}")
        found = (re.sub(file, name, target) for file, name in NAMES.items() if re.fullmatch(file, target))
        return f"](@ref {name})" if (name := next(found, "")) else link[0]
    return LINK.sub(reference, text)


def for_doxygen(text, folder="labs/lab", picture=lambda name: name):
    """Returns the text for Doxygen of a page in a folder of the repository. picture(name) must return the
    file name of a picture in the site's folder."""
    out, in_code, after_blank = [], False, True
    for line in text.split("\n"):
        if line.strip():
            in_code = is_code(line, after_blank, in_code)
        after_blank = not line.strip()
        out.append(line if in_code else escaped(line))
    text = IMAGE.sub(lambda found: figure(picture(found[2]), found[1]), "\n".join(out))
    text = DETAILS.sub(lambda found: folded("answer", found[2], found[3], found[1]), text)
    text = PLAYER.sub(lambda found: player(found[1]), text)
    text = ITALIC_LINK.sub(r"<em>[\1]\2</em>", with_references(text, folder))
    return HEADER.sub(linked, text)


def linked(header):
    """Returns a header's name, as a link if the header has a page."""
    return header[0] if header[1].startswith(LEFT_OUT) else f"[{header[1]}](@ref {header[1]})"
