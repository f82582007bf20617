"""Drives the figures that move by mouse and keys: python3 tests/docs/figures_test.py MINI FOLDER

What a figure shows must be what the programs mini and simulate print. The exit code is 77 if Chromium is not
installed, or if the folder holds no site.
"""

import json
import re
import subprocess
import sys
import unittest
from pathlib import Path

from browser import Browser, main

MINI, SITE = (Path(path).resolve() for path in sys.argv[1:])
PAGES = SITE / "html"
MOST_BYTES = 200_000  # of a figure's data


def printed(program, *words):
    return subprocess.run([str(program), *map(str, words)], check=True, text=True,
                          stdout=subprocess.PIPE).stdout


def simulated(*words):
    """Returns the JSON of lab 20's program, which lies beside mini."""
    return json.loads(printed(MINI.with_name("simulate"), *words, "--json"))


class Figure:
    """A figure that moves, in its page: what the tests of all figures share."""

    @classmethod
    def setUpClass(cls):
        place = f'data-figure="{cls.figure}"'
        cls.page = next(page.name for page in sorted(PAGES.glob("lab*.html"))
                        if place in page.read_text(encoding="utf-8"))
        cls.browser = Browser()
        cls.addClassCleanup(cls.browser.close)

    def setUp(self):
        self.open()

    def open(self, **how):
        self.browser.show(1400, "light", **how)
        self.browser.open((PAGES / self.page).as_uri())

    def focus(self, label):
        """Focuses the field whose label begins so."""
        self.browser.run(f"""[...document.querySelectorAll(".player label")].find(
            (label) => label.textContent.startsWith("{label}") ||
                label.textContent.startsWith(" {label}")).control.focus()""")

    def press(self, label, key, times=1):
        self.focus(label)
        for _ in range(times):
            self.browser.press(key)

    def buttons(self):
        return self.browser.run("[...document.querySelectorAll('.player button')].map((b) => b.textContent)")

    def status(self):
        return self.browser.run("document.querySelector('.player .status').textContent")

    def cells(self, name):
        """Returns the data of the table's cells, by row."""
        return self.browser.run(f"""[...document.querySelectorAll(".player tbody tr")].map(
            (row) => [...row.querySelectorAll("td")].map((cell) => Number(cell.dataset.{name})))""")

    def test_without_scripts_the_page_shows_the_still_picture(self):
        self.browser.call("Emulation.setScriptExecutionDisabled", value=True)
        self.addCleanup(self.browser.call, "Emulation.setScriptExecutionDisabled", value=False)
        self.browser.call("Page.navigate", url=(PAGES / self.page).as_uri())
        self.browser.wait_for("document.readyState === 'complete'")
        self.assertTrue(self.browser.run("document.querySelector('figure img').naturalWidth > 0"))
        self.assertEqual(self.browser.run("document.querySelector('.player').childElementCount"), 0)

    def test_its_data_is_small(self):
        for source in self.browser.run("[...document.scripts].map((s) => s.getAttribute('src') ?? '')"):
            if source.startswith("figure_"):
                self.assertLess((PAGES / source).stat().st_size, MOST_BYTES)


class Collectives(Figure, unittest.TestCase):
    figure = "collectives"

    def states(self, algorithm, ranks):
        """Returns what the ranks have after each step, from the messages that simulate prints."""
        run = simulated("messages", "--algorithm", algorithm, "--ranks", ranks)
        now = [[1 << rank] * run["elements"] for rank in range(ranks)]
        states = [[row[:] for row in now]]
        for step in range(1, run["steps"] + 1):
            for message in run["messages"]:
                if message["step"] == step:
                    end = message["first"] + len(message["sums"])
                    now[message["to"]][message["first"]:end] = message["sums"]
            states.append([row[:] for row in now])
        return states

    def choose(self, algorithm, ranks):
        self.browser.run(f"""(() => {{
            const [names, counts] = document.querySelectorAll(".player select");
            for (const [select, value] of [[names, "{algorithm}"], [counts, "{ranks}"]]) {{
                select.value = value;
                select.dispatchEvent(new Event("change"));
            }}
        }})()""")

    def test_each_step_shows_the_sums_of_the_messages(self):
        for algorithm in ("ring", "tree", "halving-doubling"):
            for ranks in range(2, 9):
                self.choose(algorithm, ranks)
                states = self.states(algorithm, ranks)
                for step, state in enumerate(states):
                    with self.subTest(algorithm, ranks=ranks, step=step):
                        self.assertEqual(self.cells("sum"), state)
                    self.browser.run("document.querySelectorAll('.player button')[2].click()")
                self.assertEqual({sum for row in states[-1] for sum in row}, {(1 << ranks) - 1})

    def test_mouse_and_keys_move_through_the_steps(self):
        states = self.states("ring", 4)
        self.assertEqual(self.cells("sum"), states[0])
        self.browser.click(".player button:nth-of-type(3)")
        self.assertEqual(self.cells("sum"), states[1])
        self.browser.press("Enter")
        self.assertEqual(self.cells("sum"), states[2])
        self.browser.run("document.querySelector('.player [aria-label=step]').focus()")
        for key, step in (("ArrowRight", 3), ("ArrowLeft", 2), ("End", 6), ("Home", 0)):
            self.browser.press(key)
            with self.subTest(key):
                self.assertEqual(self.cells("sum"), states[step])
                self.assertTrue(self.status().startswith(f"Step {step} of 6:" if step else "Start."))

    def test_keys_choose_the_algorithm_and_the_ranks(self):
        self.press("algorithm", "ArrowDown")
        self.press("ranks", "ArrowUp")
        self.assertEqual(self.cells("sum"), self.states("tree", 3)[0])
        self.assertIn("in 2 steps follow", self.status())

    def test_play_ends_at_the_last_step(self):
        self.choose("ring", 2)
        self.browser.click(".player button:nth-of-type(4)")
        self.assertIn("Pause", self.buttons())
        self.browser.wait_for("document.querySelector('.player').dataset.step === '2'")
        self.assertIn("Play", self.buttons())
        self.assertEqual(self.cells("sum"), [[3, 3], [3, 3]])

    def test_play_is_missing_for_readers_who_want_no_motion(self):
        self.assertEqual(self.buttons(), ["Start", "Back", "Next", "Play"])
        self.open(reduced_motion=True)
        self.assertEqual(self.buttons(), ["Start", "Back", "Next"])


class Sampler(Figure, unittest.TestCase):
    figure = "sampler"

    def check(self, *options):
        """Compares the cells with mini's table, in which * marks padding."""
        table = printed(MINI, "indices", "distributed", *options)
        rows = [row.split() for row in re.findall(r"^rank \d+ +(.*)$", table, re.MULTILINE)]
        marked = [[cell.endswith("*") for cell in row] for row in rows]
        with self.subTest(" ".join(map(str, options))):
            self.assertEqual(self.cells("sample"), [[int(cell.rstrip("*")) for cell in row] for row in rows])
            shown = self.browser.run("""[...document.querySelectorAll(".player tbody tr")].map(
                (row) => [...row.querySelectorAll("td")].map((cell) => cell.className === "padding"))""")
            self.assertEqual(shown, marked)
            self.assertIn(f": {sum(map(sum, marked))} padding,", self.status())

    def test_it_shows_the_indices_of_the_sampler(self):
        self.check("--len", 10, "--replicas", 3)
        self.press("samples", "ArrowRight")
        self.check("--len", 11, "--replicas", 3)
        self.press("epoch", "ArrowRight", 2)
        self.check("--len", 11, "--replicas", 3, "--epoch", 2)
        self.press("drop_last", " ")
        self.check("--len", 11, "--replicas", 3, "--epoch", 2, "--drop-last")
        self.assertTrue(self.status().endswith("2 of 11 dropped."))
        self.press("shuffle", " ")
        self.check("--len", 11, "--replicas", 3, "--no-shuffle", "--drop-last")

    def test_it_shows_every_number_of_samples_and_ranks(self):
        for ranks, key in ((2, "Home"), (3, "ArrowRight"), (4, "ArrowRight")):
            self.press("ranks", key)
            self.press("samples", "Home")
            for samples in range(1, 17):
                self.check("--len", samples, "--replicas", ranks)
                self.browser.press("ArrowRight")


class Buckets(Figure, unittest.TestCase):
    figure = "buckets"
    OPTIONS = {"ResNet-18": ("resnet18", 15, 30, 8), "ResNet-50": ("resnet50", 35, 70, 8),
               "ConvNet": ("convnet", 8.6, 13, 2)}  # forward and backward in ms, and ranks
    UNITS = {"KiB": 1 / 1024, "MiB": 1}

    def chosen(self, label):
        """Returns the value that a slider shows."""
        self.focus(label)
        return self.browser.run("document.activeElement.labels[0].querySelector('output').textContent")

    def limit(self, label):
        number, *unit = self.chosen(label).split()
        return float(number) * (self.UNITS[unit[0]] if unit else 0)

    def simulated(self, model):
        """Returns the simulated buckets for the values of the sliders."""
        name, forward, backward, ranks = self.OPTIONS[model]
        run = simulated(
            "buckets", "--model", name, "--forward-ms", forward, "--backward-ms", backward,
            "--ranks", ranks, "--link", self.chosen("links"), "--bucket-cap-mb", self.limit("bucket cap"),
            "--first-bucket-mb", self.limit("first bucket"))
        return run["rows"][0], run["backward_seconds"], run["forward_seconds"]

    def blocks(self, kind, names):
        """Returns the data, or the attributes, of the blocks of a lane."""
        return self.browser.run(f"""[...document.querySelectorAll(".player rect.{kind}")].map((block) =>
            {names}.map((name) => Number(block.dataset[name] ?? block.getAttribute(name))))""")

    def check(self, model):
        """Compares the timeline and the status with what is simulated."""
        row, backward, forward = self.simulated(model)
        buckets = row["buckets"]
        with self.subTest(model, cap=row["bucket_cap_mb"], first=row["first_bucket_mb"]):
            times = ("ready", "begin", "end")
            self.assertEqual(self.blocks("lane", ["bytes", *times]), [
                [bucket["bytes"], *(round(bucket[f"{time}_seconds"] * 1e6, 1) for time in times)]
                for bucket in buckets])
            self.assertEqual(self.blocks("gradient", ["bucket"]), [
                [number] for number, bucket in enumerate(buckets) for _ in bucket["gradients"]])
            self.check_positions(backward * 1e6)
            shown = [float(number) for number in re.findall(r"([\d.]+) (?:%|ms)", self.status())]
            everything, exposed = row["all_reduce_seconds"], row["exposed_seconds"]
            compute = forward + backward
            self.assertLess(abs(shown[0] - 100 * (1 - exposed / everything)), 0.51)
            for number, seconds in zip(shown[1:], (everything, compute + exposed, compute + everything),
                                       strict=True):
                self.assertLess(abs(number - seconds * 1e3), 0.051 if number >= 100 else 0.0051)
            self.assertTrue(self.status().startswith(f"{len(buckets)} bucket"))

    def check_positions(self, backward):
        """The blocks lie where their times are: on one scale, which the end of backward also has."""
        line = self.browser.run("document.querySelector('.player path.end').getAttribute('d')")
        scale = (float(re.match(r"M([\d.]+) ", line)[1]) - 2) / backward  # px; time 0 is at 2 px
        for begin, end, x, width in self.blocks("lane", ["begin", "end", "x", "width"]):
            self.assertLess(abs(x - 2 - begin * scale), 0.01)
            self.assertLess(abs(width - max(1, (end - begin) * scale - 1)), 0.01)

    def choose(self, model):
        self.press("model", "Home")
        self.press("model", "ArrowDown", list(self.OPTIONS).index(model))
        self.assertEqual(self.browser.run("document.activeElement.value"), model)

    def test_it_shows_the_simulated_buckets_of_every_limit(self):
        self.check("ResNet-18")
        self.press("bucket cap", "Home")
        for _ in range(20):
            self.check("ResNet-18")
            self.press("bucket cap", "ArrowRight")
        self.check("ResNet-18")
        self.assertEqual(self.chosen("bucket cap"), "100 MiB")
        self.press("first bucket", "Home")
        for _ in range(8):
            self.check("ResNet-18")
            self.press("first bucket", "ArrowRight")

    def test_it_shows_other_models_and_links(self):
        for model in ("ResNet-50", "ConvNet"):
            self.choose(model)
            self.check(model)
            for label, key in (("links", "Home"), ("bucket cap", "Home"), ("bucket cap", "ArrowRight"),
                               ("links", "End"), ("first bucket", "Home"), ("bucket cap", "End")):
                self.press(label, key)
                self.check(model)

    def test_the_convnet_takes_the_steps_of_lab_16(self):
        self.choose("ConvNet")
        self.assertIn("a step takes 23.89 ms", self.status())
        self.press("bucket cap", "End")
        self.press("first bucket", "End")
        self.assertTrue(self.status().startswith("1 bucket. Backward hides 0 % of 7.59 ms"))

    def test_mouse_and_keys_choose_a_bucket(self):
        detail = "document.querySelector('.player .detail').textContent"
        row, *_ = self.simulated("ResNet-18")
        self.assertTrue(self.browser.run(detail).startswith(
            "Bucket 0: 2.0 MiB, 2 gradients, fc.bias to fc.weight. Ready at 0.01 ms"))
        self.press("look at bucket", "ArrowRight")
        self.assertTrue(self.browser.run(detail).startswith("Bucket 1: "))
        self.browser.click(".player rect.lane[data-bucket='2']")
        self.assertTrue(self.browser.run(detail).startswith("Bucket 2: "))
        self.assertEqual(self.chosen("look at bucket"), "2")
        self.assertIn(f"to {row['buckets'][2]['end_seconds'] * 1e3:.2f} ms", self.browser.run(detail))
        self.press("bucket cap", "End")
        self.assertEqual(self.chosen("look at bucket"), "1")


class Scaling(Figure, unittest.TestCase):
    figure = "scaling"

    def check(self, cap, link, *options):
        """Compares the table with a simulated step."""
        run = simulated("step", "--algorithm", "ring", "--ranks", "1,2,4,8,16,32",
                        "--bucket-cap-mb", cap, "--link", link, *options)
        expected = [[str(row["ranks"]), f"{row['step_seconds'] * 1e3:.1f}",
                     f"{row['exposed_seconds'] * 1e3:.1f}", f"{row['efficiency'] * 100:.1f} %"]
                    for row in run["rows"]]
        shown = self.browser.run("""[...document.querySelectorAll(".player tbody tr")].map(
            (row) => [...row.children].map((cell) => cell.textContent))""")
        with self.subTest(cap, link=link):
            self.assertEqual(shown, expected)
            self.assertIn(f" {run['rows'][0]['buckets']} buckets of up to {cap} MiB", self.status())
            self.assertIn(f"32: {expected[-1][1]}",
                          self.browser.run("document.querySelector('.player svg').ariaLabel"))

    def heights(self):
        """Returns how high the points of the bold line are, by rank."""
        path = self.browser.run("document.querySelector('.player .chosen').getAttribute('d')")
        return [-float(point.split()[1]) for point in path[1:].split("L")]

    def test_it_shows_the_simulated_step(self):
        self.check(25, "25Gbit,20us")
        self.press("bucket cap", "Home")
        self.check(1, "25Gbit,20us")
        self.press("links", "ArrowLeft")
        self.check(1, "10Gbit,20us")
        self.press("overlap", " ")
        self.check(1, "10Gbit,20us", "--no-overlap")
        self.press("bucket cap", "End")
        self.press("links", "End")
        self.check(100, "100Gbit,20us", "--no-overlap")

    def test_the_line_rises_with_the_ranks(self):
        self.press("overlap", " ")
        self.assertEqual(self.heights(), sorted(self.heights()))
        self.assertLess(self.heights()[0] + 10, self.heights()[-1])


if __name__ == "__main__":
    main(PAGES)
