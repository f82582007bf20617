"""Adds to Doxygen's HTML what screen readers and keyboards need, and Doxygen 1.9 leaves out.

    one h1 per page, levels of headings in order      the title is an h1; sections begin at h2
    landmarks                                         banner, navigation, main, contentinfo
    names                                             the search field, frames, pictures
    the language                                      write_header() in build.py; of a page in Chinese, here
"""

import re

HEADING = re.compile(r"<(/?)h([1-5])\b")
TITLE = re.compile(r'<div class="title">(.*?)</div>', re.DOTALL)
CONTENTS = '<div class="contents">'
TOC = re.compile(r'<div class="toc"><h\d>(.*?)</h\d>')
NESTED = '<a href="#nested-classes">Classes</a> &#124;\n'  # also where all of them are private
FILE_LINK = re.compile(r'<a href="file:[^"]*">(.*?)</a>')  # an example of a URL is no link
SOURCE = re.compile(r'(<a href="[^"]*_source\.html")(><span class="icondoc"></span></a>)')
ENGLISH = ("top", "side-nav", "main-nav")  # the parts of a page in Chinese that stay English
CRAWL = '<a href="doxygen_crawl.html"></a>'  # since Doxygen 1.13: all links, some of them broken
FIRST = ' role="heading" aria-level="1"'  # the heading of the start page, which shows no title

ADDED = (
    ('<div id="top"', ' role="banner"'),
    ('<div id="side-nav"', ' role="navigation" aria-label="All pages"'),
    ('<div id="main-nav"', ' role="navigation" aria-label="Menu"'),
    ('<div id="doc-content"', ' role="main" tabindex="0"'),  # it scrolls
    ('<div id="nav-path"', ' role="contentinfo"'),
    ('<iframe src="javascript:void(0)"', ' title="Search results"'),
    ('<iframe scrolling="no"', ' title="Diagram"'),
)
SCRIPTS = {
    "menu.js": (('<img id="MSearchSelect"', '<img id="MSearchSelect" aria-hidden="true"'),
                ('id="MSearchField"', 'id="MSearchField" aria-label="Search"'),
                ('<a id="MSearchClose"', '<a id="MSearchClose" aria-label="Close the results"')),
    "navtree.js": (('<img src="\'+relpath+\'sync_', '<img alt="" src="\'+relpath+\'sync_'),),
}


def deeper(html):
    """Returns the page with each heading of its contents one level deeper, if one is an h1."""
    head, mark, contents = html.partition(CONTENTS)
    if "<h1" in contents:
        contents = HEADING.sub(lambda found: f"<{found[1]}h{int(found[2]) + 1}", contents)
    return head + mark + contents


def finished(html):
    """Returns a page with its headings, landmarks and names, without Doxygen's broken links."""
    html = TOC.sub(r'<div class="toc" role="navigation" aria-label="\1"><h3 aria-level="2">\1</h3>',
                   deeper(html))
    if FIRST not in html:
        html = TITLE.sub(r'<h1 class="title">\1</h1>', html, count=1)
    if 'name="nested-classes"' not in html:
        html = html.replace(NESTED, "")
    html = FILE_LINK.sub(r"\1", html).replace(CRAWL, "")
    html = SOURCE.sub(r'\1 aria-label="Source"\2', html)  # since Doxygen 1.9.5
    for mark, added in ADDED:
        html = html.replace(mark, mark + added)
    return html


def in_chinese(html):
    """Returns a page of docs/zh with its language."""
    html = html.replace('<html lang="en"', '<html lang="zh-Hans"', 1).replace("Table of Contents", "目录")
    for name in ENGLISH:
        html = html.replace(f'<div id="{name}"', f'<div id="{name}" lang="en"', 1)
    return html


def finish(folder, links):
    """Rewrites the pages and the scripts in the site's folder. `links` has HTML for the top of some
    pages, with links to the same page in the other language, and to slides."""
    (folder / "doxygen_crawl.html").unlink(missing_ok=True)
    for page in folder.glob("*.html"):
        text = finished(page.read_text(encoding="utf-8"))
        text = text.replace(CONTENTS, links.get(page.name, "") + CONTENTS, 1)
        page.write_text(in_chinese(text) if page.name.startswith("zh_") else text, encoding="utf-8")
    for name, changes in SCRIPTS.items():
        text = (folder / name).read_text(encoding="utf-8")
        for before, after in changes:
            text = text.replace(before, after)
        (folder / name).write_text(text, encoding="utf-8")
