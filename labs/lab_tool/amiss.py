"""Files of work/ that would replace files of the repository that are not tasks."""

AMISS = (  # only the learner's files would include such a header: two versions in one program
    ("libmini/**/*.hpp", "would hide libmini's own; headers are the specification and stay as "
     "they are"),
    ("labs/**/*.hpp", "would hide the lab's own; headers are the specification and stay as "
     "they are"),
    ("labs/*/test*.cpp", "would replace the check itself"),
)


def files_amiss(workspace):
    """Returns {path: reason} of files in work/ that would replace files that are not tasks."""
    amiss = {}
    for pattern, why in AMISS:
        for own in sorted(workspace.folder.glob(pattern)):
            path = str(own.relative_to(workspace.folder))
            if (workspace.root / path).exists():
                amiss[path] = why
    return amiss
