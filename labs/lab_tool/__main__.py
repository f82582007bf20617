"""The entry point of labs/lab: `python3 labs/lab_tool VERB ...`."""

import os
import sys

if sys.version_info < (3, 10):
    sys.exit("lab: this is Python %d.%d; the tool needs 3.10 or newer" % sys.version_info[:2])

# Run as a folder, Python puts the folder itself on the path; the package is one level up.
sys.path[0] = os.path.dirname(os.path.dirname(os.path.realpath(__file__)))

from lab_tool.cli import main  # noqa: E402

# A terminal that cannot encode the tick shows a question mark.
for stream in filter(None, (sys.stdout, sys.stderr)):
    stream.reconfigure(errors="replace")
sys.exit(main(sys.argv[1:]))
