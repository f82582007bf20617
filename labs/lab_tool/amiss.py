"""Files of work/ that would replace files of the repository that are not tasks: checks, and headers
without a region."""

from lab_tool.regions import HEADERS

# The learner's files would include such a header, but libmini's own files would not.
HIDES = "would hide {}; headers without a region are the specification and stay as they are"
REPLACES = "would replace the check itself"


def files_amiss(workspace):
    """Returns {path: reason} of files in work/ that would replace files that are not tasks."""
    amiss = {}
    with_regions = {region.path for region in workspace.catalogue.regions}
    for top, owner in (("libmini", "libmini's own"), ("labs", "the lab's own")):
        for own in sorted((workspace.folder / top).rglob("*.*")):
            path = own.relative_to(workspace.folder)
            if not (workspace.root / path).exists():
                continue
            if top == "labs" and len(path.parts) == 3 and path.name.startswith("test"):
                amiss[str(path)] = REPLACES
            elif path.suffix in HEADERS and str(path) not in with_regions:
                amiss[str(path)] = HIDES.format(owner)
    return amiss
