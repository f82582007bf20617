"""Finds the files that include a header: its regions are compiled into each of them."""

import re

from lab_tool.regions import HEADERS, SUFFIXES

INCLUDE = re.compile(r'^#include "([^"]+)"', re.MULTILINE)


def includers_of(root, header):
    """Returns the paths of the files below libmini and labs that include a header, directly or
    through other headers."""
    includes = {}  # {path: the headers that it includes}
    for top in ("libmini", "labs"):
        for path in sorted((root / top).rglob("*")):
            if path.suffix in SUFFIXES:
                names = INCLUDE.findall(path.read_text(encoding="utf-8"))
                includes[str(path.relative_to(root))] = set(names)
    found, headers = [], {header}
    while headers:
        new = [path for path, names in includes.items() if names & headers and path not in found]
        found += new
        headers = {path for path in new if path.endswith(HEADERS)}
    return found
