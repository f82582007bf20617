"""Tests data/fetch_mnist with a local web server.

The real files are not needed: each test replaces them by small files with their own sizes
and checksums.
"""

import contextlib
import hashlib
import http.server
import importlib.machinery
import importlib.util
import io
import os
import stat
import subprocess
import sys
import tempfile
import threading
import unittest

HERE = os.path.dirname(os.path.abspath(__file__))
SCRIPT = os.path.join(HERE, "../../data/fetch_mnist")

FIRST = bytes(range(256)) * 1000
SECOND = b"the second file"


def load_script():
    sys.dont_write_bytecode = True
    loader = importlib.machinery.SourceFileLoader("fetch_mnist", SCRIPT)
    spec = importlib.util.spec_from_loader("fetch_mnist", loader)
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


class Mirror:
    """A web server that maps each path to a reply: bytes, a status, or a function."""

    def __init__(self, answers):
        self.requests = []
        mirror = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self):
                name = self.path.lstrip("/")
                mirror.requests.append(name)
                answer = answers.get(name, 404)
                if callable(answer):
                    answer(self)
                elif isinstance(answer, int):
                    self.send_error(answer)
                else:
                    self.send_response(200)
                    self.end_headers()
                    with contextlib.suppress(ConnectionError):  # the client disconnected
                        self.wfile.write(answer)

            def log_message(self, *arguments):
                pass

        self.server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.url = f"http://127.0.0.1:{self.server.server_port}/"
        self.thread = threading.Thread(target=self.server.serve_forever, args=(0.01,))
        self.thread.start()

    def close(self):
        self.server.shutdown()
        self.thread.join()
        self.server.server_close()


def redirect_to(url):
    def answer(handler):
        handler.send_response(302)
        handler.send_header("Location", url)
        handler.end_headers()
    return answer


def drop_connection(handler):
    """Announces more bytes than it sends, then closes the connection."""
    handler.send_response(200)
    handler.send_header("Content-Length", str(len(FIRST)))
    handler.end_headers()
    handler.wfile.write(FIRST[:100])


class FetchMnistTest(unittest.TestCase):
    def setUp(self):
        self.script = load_script()
        self.script.FILES = {
            "first": (len(FIRST), hashlib.sha256(FIRST).hexdigest()),
            "second": (len(SECOND), hashlib.sha256(SECOND).hexdigest()),
        }
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.out = os.path.join(folder.name, "deep", "mnist")
        self.good = {"first": FIRST, "second": SECOND}

    def mirror(self, answers):
        mirror = Mirror(answers)
        self.addCleanup(mirror.close)
        return mirror

    def run_script(self, *mirrors, out=None):
        arguments = ["--out", out or self.out]
        for mirror in mirrors:
            arguments += ["--mirror", mirror.url]
        self.stderr = io.StringIO()
        with contextlib.redirect_stderr(self.stderr), \
                contextlib.redirect_stdout(io.StringIO()):
            return self.script.main(arguments)

    def read(self, name):
        with open(os.path.join(self.out, name), "rb") as file:
            return file.read()

    def check_both_files(self):
        self.assertEqual(self.read("first"), FIRST)
        self.assertEqual(self.read("second"), SECOND)
        self.assertEqual(sorted(os.listdir(self.out)), ["first", "second"])

    def check_rejected(self, answer, *expected):
        """Checks that this reply for the first file gives a one-line error, and writes no file."""
        self.assertEqual(self.run_script(self.mirror({**self.good, "first": answer})), 1)
        message = self.stderr.getvalue().splitlines()[-1]
        for part in ("fetch_mnist: first:", "run data/fetch_mnist again", *expected):
            self.assertIn(part, message)
        self.assertEqual(os.listdir(self.out), [])

    def test_both_files_arrive_whole_and_readable_by_all(self):
        self.assertEqual(self.run_script(self.mirror(self.good)), 0)
        self.check_both_files()
        mode = os.stat(os.path.join(self.out, "first")).st_mode
        self.assertEqual(stat.S_IMODE(mode), 0o644)

    def test_files_that_exist_and_are_right_are_not_downloaded_again(self):
        self.assertEqual(self.run_script(self.mirror(self.good)), 0)
        again = self.mirror(self.good)
        self.assertEqual(self.run_script(again), 0)
        self.assertEqual(again.requests, [])
        self.assertIn("already there", self.stderr.getvalue())

    def test_a_wrong_file_of_the_right_size_is_replaced(self):
        os.makedirs(self.out)
        with open(os.path.join(self.out, "first"), "wb") as file:
            file.write(b"x" * len(FIRST))
        self.assertEqual(self.run_script(self.mirror(self.good)), 0)
        self.check_both_files()

    def test_after_a_mirror_that_lacks_a_file_the_next_mirror_is_tried(self):
        lacking, good = self.mirror({"second": SECOND}), self.mirror(self.good)
        self.assertEqual(self.run_script(lacking, good), 0)
        self.assertEqual(lacking.requests, ["first", "second"])
        self.assertEqual(good.requests, ["first"])
        self.check_both_files()

    def test_after_a_wrong_checksum_the_next_mirror_is_tried(self):
        wrong = self.mirror({**self.good, "first": b"x" * len(FIRST)})
        self.assertEqual(self.run_script(wrong, self.mirror(self.good)), 0)
        self.check_both_files()

    def test_what_is_not_the_file_is_rejected(self):
        for answer, *expected in ((b"x" * len(FIRST), "expected SHA-256", "found"),
                                  (FIRST[:-1], "expected 256,000 bytes, found only 255,999"),
                                  (FIRST + b"x", "expected 256,000 bytes, found more"),
                                  (503, "Service Unavailable"),
                                  (drop_connection, "first"),
                                  (redirect_to("http://mirror.invalid/first"), "not https")):
            with self.subTest(expected[0]):
                self.check_rejected(answer, *expected)

    def test_the_error_names_a_mirror_that_does_not_reply(self):
        gone = Mirror({})
        gone.close()
        self.assertEqual(self.run_script(gone), 1)
        self.assertIn(gone.url + "first", self.stderr.getvalue())
        self.assertEqual(os.listdir(self.out), [])

    def test_a_target_that_is_a_file_is_a_one_line_error(self):
        with tempfile.NamedTemporaryFile() as file:
            self.assertEqual(self.run_script(self.mirror(self.good), out=file.name), 1)
            self.assertEqual(len(self.stderr.getvalue().splitlines()), 1)
            self.assertIn(file.name, self.stderr.getvalue())

    def test_mirrors_must_be_https_or_local(self):
        allowed = self.script.is_allowed
        self.assertTrue(all(allowed(url) for url in load_script().MIRRORS))
        self.assertTrue(allowed("http://localhost:8000/"))
        for url in ("http://example.org/", "ftp://localhost/", "file:///etc/", "https:", "",
                    "http://localhost.example.org/", "http://localhost@example.org/"):
            self.assertFalse(allowed(url), url)

    def test_usage_errors_exit_with_2_and_help_with_0(self):
        def exit_code(*arguments):
            return subprocess.run([sys.executable, SCRIPT, *arguments],
                                  capture_output=True, timeout=60).returncode
        self.assertEqual(exit_code("--mirror", "http://example.org/"), 2)
        self.assertEqual(exit_code("--unknown"), 2)
        self.assertEqual(exit_code("--help"), 0)


if __name__ == "__main__":
    unittest.main()
