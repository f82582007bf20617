#!/usr/bin/env python3
"""Takes the picture of a run report: trains on two ranks, and opens report.html in Chromium.

    python3 docs/site/run_picture.py build/release/bin docs/figures/run_report.png

The exit code is 77 if Chromium is not installed.
"""

import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.append(str(ROOT / "tests/docs"))
from browser import Browser, find_browser  # noqa: E402

OPTIONS = ("--data", "digits", "--sync", "ddp", "--bucket-cap-mb", "0.0625", "--steps", "200")
WIDTH, SKIPPED = 860, 77

# From the chart of the step times to the table of hidden communication.
PART = """(() => {
    const box = (heading) => [...document.querySelectorAll("section")].find(
        (section) => section.querySelector("h2").textContent === heading).getBoundingClientRect();
    const top = box("Step time by phase and rank").top, bottom = box("Communication hidden under backward").bottom;
    return {x: 0, y: top + scrollY, width: innerWidth, height: bottom - top + 16, scale: 1};
})()"""


def picture_of(browser, page):
    """Returns a PNG of a part of report.html."""
    browser.show(WIDTH, "light")
    browser.open(page.as_uri())
    return browser.picture(browser.run(PART))


def take(programs, output):
    """Trains with the programs of a folder, and writes the picture. Returns False without Chromium."""
    if not find_browser():
        print("docs: Chromium is not installed; labs/lab setup installs it", file=sys.stderr)
        return False
    with tempfile.TemporaryDirectory() as folder, Browser() as browser:
        subprocess.run([programs / "minirun", "-n", "2", programs / "train_mnist", *OPTIONS,
                        "--logdir", folder], check=True, stdout=subprocess.DEVNULL)
        output.write_bytes(picture_of(browser, Path(folder) / "report.html"))
    return True


if __name__ == "__main__":
    sys.exit(0 if take(*map(Path, sys.argv[1:])) else SKIPPED)
