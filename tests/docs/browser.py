"""A browser without a window, driven over Chromium's DevTools protocol.

Chromium started with --remote-debugging-pipe reads commands from file descriptor 3 and writes answers
and events to file descriptor 4: JSON, each message ended by a zero byte.

    with Browser() as browser:
        browser.open(page.as_uri())
        browser.run("document.title")

https://chromedevtools.github.io/devtools-protocol
"""

import base64
import fcntl
import itertools
import json
import os
import re
import select
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from functools import lru_cache
from pathlib import Path
from urllib.parse import unquote, urlsplit

FOLDER = Path(__file__).parent
AXE = FOLDER.parents[1] / "build/python/axe_playwright_python/axe.min.js"  # tests/python_packages.sh
NAMES = ("chromium-headless-shell", "chromium", "chromium-browser", "google-chrome")
KEYS = {"Tab": 9, "Enter": 13, "Escape": 27, " ": 32, "End": 35, "Home": 36, "ArrowLeft": 37,
        "ArrowUp": 38, "ArrowRight": 39, "ArrowDown": 40}
TYPED = {"Enter": "\r", " ": " "}  # the keys that also enter a character
OWN_CHECKS = ("sideways", "images", "headings", "names", "ids", "contrast", "focus")  # of checks.js
CHECKS = (*OWN_CHECKS, *["wcag"] * AXE.exists())
DEADLINE = 60  # seconds that a command may take
FIRST_FREE = 10  # a file descriptor that is neither 3 nor 4
SKIPPED = 77  # an exit code
NAMED = re.compile(r'\b(?:id|name)="([^"]+)"')


def find_browser():
    """Returns the path of an installed Chromium, or None."""
    return next(filter(None, map(shutil.which, NAMES)), None)


def main(pages=None):
    """Runs the tests of the script that is started. Exits with 77 if Chromium is not installed, or if
    the folder `pages` has no site."""
    if not find_browser() or (pages and not (pages / "index.html").exists()):
        print(f"skipped: no Chromium, or no site in {pages}; labs/lab setup installs Chromium and Doxygen")
        sys.exit(SKIPPED)
    unittest.main(argv=sys.argv[:1])


@lru_cache(maxsize=None)
def anchors(page):
    return set(NAMED.findall(page.read_text(encoding="utf-8")))


def is_broken(link, page):
    """Returns whether a link of a page leads to no page, or to no anchor in a page."""
    parts = urlsplit(link)
    if parts.scheme not in ("", "file"):
        return False
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    if not target.is_file():
        return True
    return bool(parts.fragment and target.suffix == ".html" and
                unquote(parts.fragment) not in anchors(target))


class BrowserError(Exception):
    """The browser has ended, does not answer, or a script in the page has thrown."""


class CommandError(BrowserError):
    """The browser has refused a command."""


class Browser:
    """One browser with one page. Ends the browser when the with block ends."""

    def __init__(self):
        self.errors = []  # what the page reported since it was opened: exceptions, console.error
        self._profile = tempfile.mkdtemp()
        self._numbers = itertools.count(1)
        self._unread, self._events, self._session = b"", [], None
        self._start()
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self._session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        for domain in ("Page", "Runtime", "Log"):
            self.call(f"{domain}.enable")

    def _start(self):
        commands, self._to = os.pipe()
        self._from, answers = os.pipe()
        commands, answers = (fcntl.fcntl(end, fcntl.F_DUPFD, FIRST_FREE) for end in (commands, answers))

        def connect():
            os.dup2(commands, 3)
            os.dup2(answers, 4)

        self._process = subprocess.Popen(
            [find_browser(), "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             "--no-first-run", "--hide-scrollbars", "--remote-debugging-pipe",
             f"--user-data-dir={self._profile}"],
            preexec_fn=connect, close_fds=False, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(answers)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.close()

    def close(self):
        self._process.terminate()
        self._process.wait()
        os.close(self._to)
        os.close(self._from)
        shutil.rmtree(self._profile, ignore_errors=True)  # its last helpers may still write

    def call(self, method, **params):
        """Sends a command; returns its result. Throws CommandError if the browser reports an error."""
        number = next(self._numbers)
        command = {"id": number, "method": method, "params": params}
        if self._session:
            command["sessionId"] = self._session
        os.write(self._to, json.dumps(command).encode() + b"\0")
        while True:
            message = self._read()
            if message.get("id") == number:
                if "error" in message:
                    raise CommandError(f"{method}: {message['error']['message']}")
                return message["result"]
            self._note(message)

    def _read(self):
        """Returns the next message of the browser."""
        end = time.monotonic() + DEADLINE
        while b"\0" not in self._unread:
            ready, _, _ = select.select([self._from], [], [], max(0, end - time.monotonic()))
            part = os.read(self._from, 1 << 20) if ready else b""
            if not part:
                raise BrowserError("the browser has ended" if ready else
                                   f"the browser has not answered for {DEADLINE} s")
            self._unread += part
        message, self._unread = self._unread.split(b"\0", 1)
        return json.loads(message)

    def _note(self, event):
        method, params = event.get("method"), event.get("params", {})
        self._events.append(method)
        if method == "Runtime.exceptionThrown":
            details = params["exceptionDetails"]
            self.errors.append(details.get("exception", {}).get("description", details["text"]))
        elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
            self.errors.append(" ".join(str(arg.get("value", arg.get("description")))
                                        for arg in params["args"]))
        elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
            self.errors.append(f"{params['entry']['text']} {params['entry'].get('url', '')}".strip())

    def open(self, url):
        """Loads a page; blocks until its pictures have loaded and its scripts have nothing to do."""
        self.errors, self._events = [], []
        reply = self.call("Page.navigate", url=url)
        if "errorText" in reply:
            raise BrowserError(f"{url}: {reply['errorText']}")
        while "Page.loadEventFired" not in self._events:
            self._note(self._read())
        # The timeout, in ms: a busy machine may give a page no idle time before its first frame.
        self.run("new Promise((done) => requestIdleCallback(done, {timeout: 1000}))")

    def run(self, script, frame=None):
        """Evaluates an expression in the page, or in its frame of this name if it has one; returns the
        value, awaited if it is a promise."""
        context = self._context(frame) if frame else None
        where = {"contextId": context} if context else {}
        reply = self.call("Runtime.evaluate", expression=script, returnByValue=True, awaitPromise=True,
                          **where)
        if "exceptionDetails" in reply:
            details = reply["exceptionDetails"]
            raise BrowserError(details.get("exception", {}).get("description", details["text"]))
        return reply["result"].get("value")

    def _context(self, name):
        tree = self.call("Page.getFrameTree")["frameTree"]
        for child in tree.get("childFrames", ()):
            if child["frame"].get("name") == name:
                return self.call("Page.createIsolatedWorld",
                                 frameId=child["frame"]["id"])["executionContextId"]
        return None

    def show(self, width, scheme, reduced_motion=False):
        """Sets the width of the window and the colour scheme, "light" or "dark"."""
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1,
                  mobile=width < 768)
        self.call("Emulation.setEmulatedMedia", features=[
            {"name": "prefers-color-scheme", "value": scheme},
            {"name": "prefers-reduced-motion", "value": "reduce" if reduced_motion else "no-preference"}])

    def load_checks(self):
        """Prepares the page for faults(): opens all that is folded."""
        for script in (AXE, FOLDER / "checks.js"):
            if script.exists():
                self.run(script.read_text(encoding="utf-8") + "\n0")
        self.run("checks.openAll()")

    def faults(self, kinds=CHECKS):
        """Returns what these checks find in the page; load_checks() comes first."""
        return self.run(f"Promise.all({list(kinds)}.map((kind) => checks[kind]())).then((all) => all.flat())")

    def press(self, key):
        """Presses and releases a key: "Tab", "Enter", "ArrowRight" or a character."""
        code = KEYS.get(key, ord(key[0].upper()))
        text = TYPED.get(key, "" if key in KEYS else key)
        event = {"key": key, "code": key, "windowsVirtualKeyCode": code}
        self.call("Input.dispatchKeyEvent", type="keyDown", text=text, **event)
        self.call("Input.dispatchKeyEvent", type="keyUp", **event)

    def click(self, selector):
        """Clicks on the middle of an element with the mouse."""
        spot = self.run(f"""(() => {{
            const it = document.querySelector({json.dumps(selector)});
            it.scrollIntoView({{block: "center", behavior: "instant"}});
            const box = it.getBoundingClientRect();
            return {{x: box.x + box.width / 2, y: box.y + box.height / 2}};
        }})()""")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, button="left", clickCount=1, **spot)

    def wait_for(self, script, frame=None):
        """Blocks until an expression is true, and returns its value; throws after the deadline."""
        end = time.monotonic() + DEADLINE
        while time.monotonic() < end:
            try:
                if value := self.run(script, frame):
                    return value
            except CommandError:  # a document that is being replaced by the next
                pass
            time.sleep(0.02)
        raise BrowserError(f"never true in {DEADLINE} s: {script}")

    def picture(self, part):
        """Returns a PNG of a part of the page: {x, y, width, height, scale} in pixels."""
        reply = self.call("Page.captureScreenshot", format="png", clip=part, captureBeyondViewport=True)
        return base64.b64decode(reply["data"])
