"""Each lab has a quiz; every answer, with all numbers, is equal to one that is found in another way."""

import json
import math
import struct
import unittest
from collections import Counter
from itertools import accumulate, product
from pathlib import Path
from statistics import mean
from unittest import mock

from fake_tree import FakeTree
from lab_tool.verbs.quiz import fits, value_of

QUIZZES = sorted((Path(__file__).resolve().parents[2] / "labs").glob("*/quiz.json"))


def ring_floats(n, P):
    """Returns the floats that rank 0 sends in a ring all-reduce, chunk by chunk."""
    chunks = [len(range(n)[c::P]) for c in range(P)]
    return sum(chunks[-step % P] for step in (*range(P - 1), *range(-1, P - 2)))


def as_float(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def slope(f, x):
    return (f(x + 1e-4) - f(x - 1e-4)) / 2e-4


def momentum(gradient, steps):
    p = v = 0
    for _ in range(steps):
        v = v / 2 + gradient
        p -= v
    return p


def padded(n, P):
    return [place % n for place in range(math.ceil(n / P) * P)]


def chunks(n, devices):
    return [range(n)[first:first + math.ceil(n / devices)] for first in range(0, n, math.ceil(n / devices))]


def one_at_a_time(ready, takes):
    end = 0
    for begin, time in zip(ready, takes):
        end = max(end, begin) + time
    return end


def rounded(x, bits):
    """Returns x as a float with so many bits of precision; ties to even."""
    step = 2.0 ** (math.frexp(x)[1] - bits)
    return round(x / step) * step


def scale_after(scale, steps_with_inf):
    for has_inf in steps_with_inf:
        scale = scale / 2 if has_inf else scale
    return scale


def greedy(sizes, ranks):
    loads = [0] * ranks
    for size in sorted(sizes, reverse=True):
        loads[loads.index(min(loads))] += size
    return loads


def sent_with_feedback(gradient, steps):
    error = sent = 0
    for _ in range(steps):
        total = gradient + error
        sent, error = sent + math.floor(total + 0.5), total - math.floor(total + 0.5)
    return sent


ANSWERS = {
    "00.1": lambda n, P, r: list(range(r, n, P))[-1],
    "00.2": lambda n, P: 4 * ring_floats(n, P),
    "00.3": lambda a, b: abs(-0.1 * (a + b) + 0.1 * (a / 2 + b / 2)),
    "01.1": lambda a, b, c, i, j: list(product(range(a), range(b), range(c))).index((i, j, 1)),
    "01.2": lambda a, b, c: math.prod(map(max, (a, 1, b), (1, c, 1))),
    "01.3": lambda m, n: list(product(range(m), range(n))).index((2, 0)),
    "01.4": lambda n, m, g: sum(g for row, column in product(range(n), range(m)) if column == 1),
    "02.1": lambda M, K, N: sum(1 for _ in product(range(M), range(K), range(N))),
    "02.2": lambda n: len(bin(n)) - 3,
    "02.3": lambda a: int(as_float(as_float(16777216 + a) + a)),
    "02.4": lambda s: round(0 - s - math.log(1 + math.exp(-s))),
    "03.1": lambda a, w: round(slope(lambda w: (a * w) ** 2 + a * w, w)),
    "03.2": lambda k: len(['t', 't', 'y'] + ['add'] * k),
    "03.3": lambda g, a, b: round(slope(lambda x: g * x * b, a)),
    "03.4": lambda n, x: sum(1 * x for row in range(n)),
    "04.1": lambda i, o: sum(i + 1 for output in range(o)),
    "04.2": lambda g, n: momentum(g, n),
    "04.3": lambda f, n: round(math.prod((2 / f) / (1 / f) for layer in range(n))),
    "04.4": lambda c, o, k: len(list(product(range(c), range(k), range(k)))),
    "05.1": lambda h, k, s, p: len(range(0, h + 2 * p - k + 1, s)),
    "05.2": lambda c, k, m: len(list(product(range(c), range(k), range(k), range(m)))),
    "05.3": lambda h, w: sum(w for y, x in product(range(h - 2), repeat=2) if y <= 1 <= y + 2 and x <= 1 <= x + 2),
    "05.4": lambda c, h: sum(1 for _ in product(range(c), range(0, h, 2), range(0, h, 2))),
    "06.1": lambda b, n: next(t for t in range(0, n + b, b) if t >= n) - n,
    "06.2": lambda s: len({s * t * 4 // 32 for t in range(32)}),
    "06.3": lambda s: max(Counter(s * t % 32 for t in range(32)).values()),
    "06.4": lambda T, n, t: len(range(t, n, T)),
    "07.1": lambda n, P: n - sum(int(n * (1 / P) + 1e-9) for rank in range(P)),
    "07.2": lambda n: math.floor(0.3 * n),
    "07.3": lambda n: len(list(product(range(n), repeat=n - 1))),
    "07.4": lambda a, b: [[a, 7, b, 2][place] for place in (2, 0)][0],
    "08.1": lambda n, m: len(list(range(0, m + 1, n))),
    "08.2": lambda n, b: len(range(0, n, b)),
    "08.3": lambda f, s, W: sorted([f / W, s])[1],
    "08.4": lambda a, b, c: 1 - (a + c) / (a + b + c),
    "09.1": lambda n, P: len(padded(n, P)) - n,
    "09.2": lambda n, P, r: padded(n, P)[r::P][-1],
    "09.3": lambda P, b, k, Q: len(range(0, P * b * k, Q * b)),
    "09.4": lambda n, P: sum(sample != 0 for sample in padded(n, P)) / len(padded(n, P)),
    "10.1": lambda P, d: sum(accumulate([d] * P)),
    "10.2": lambda a, b: sum(end <= b for end in accumulate([12 + a, 12, 42])),
    "10.3": lambda P: len(['add'] * P + ['get'] * P + ['set']),
    "10.4": lambda k, j: sum(id != j + 1 for id in range(k, j + 2)),
    "11.1": lambda P, m: ring_floats(1000 * m, P) / 1000,
    "11.2": lambda P: math.ceil(math.log2(P)),
    "11.3": lambda a, b, n, P: sum(a + n * b for bit in range(P) if 2**bit < P),
    "11.4": lambda n, P: [n >> bit for bit in range(1, 3)][1],
    "12.1": lambda H, L, h, l: list(product(range(H), range(L))).index((h, l)),
    "12.2": lambda P: len(list(product(range(P), ('stdout', 'stderr')))),
    "12.3": lambda t, g, n: next(s for s in range(100) if s - t >= n or s - t >= g),
    "13.1": lambda n, D: len(chunks(n, D)[-1]),
    "13.2": lambda n, D: len(chunks(n, D)),
    "13.3": lambda m, D: sum(m + m for device in range(1, D)),
    "13.4": lambda n, k, x: slope(lambda w: sum(w * x for row in range(k)) / n, 1),
    "14.1": lambda a, b: 1 - 0.1 * sum(g / 4 for g in (a, b, 2, 4)),
    "14.2": lambda P, l: next(r / 10000 for r in range(1, 10000) if abs(r / 10000 * P - l) < 1e-9),
    "14.3": lambda a: 1 / a / 2,
    "14.4": lambda k, n: sum(step % k != 0 for step in range(n)),
    "15.1": lambda n, t: one_at_a_time(range(1, n + 1), [t] * n),
    "15.2": lambda n, b, t: one_at_a_time(range(b, n * b + 1, b), [t] * n),
    "15.3": lambda k, P: round(mean(sum(1 for micro in range(k)) for rank in range(P))),
    "15.4": lambda p, k: sum(1 for micro, tensor in product(range(k), range(p)) if micro == k - 1),
    "16.1": lambda c, a, b: next(total for total in accumulate([a, b, a, b, a]) if total >= c),
    "16.2": lambda P, d, k: (k - 1) * sum(d for half in range(2) for step in range(P - 1)),
    "16.3": lambda a, b, t: one_at_a_time([a, max(a, b)], [t, t]),
    "17.1": lambda P, x: next(r for r in range(P) if (r - 1) % P == x),
    "17.2": lambda P: len(list(product(range(1, P), ('arrived', 'released')))),
    "17.3": lambda h, c, m: m - max(range(0, m + 1, c)),
    "17.4": lambda t: t + t / 20,
    "18.1": lambda k, n: sum(4 for _ in range(n)) / sum(4 + 4 for _ in range(k)),
    "18.2": lambda r, n, m: len(list(product(range(n), range(r)))) + len(list(product(range(m), range(r)))),
    "18.3": lambda g, s: sent_with_feedback(g, s),
    "18.4": lambda P, m: m * 2 / 4,
    "19.1": lambda n, P: sum(4 * n for moment in range(2)) / P,
    "19.2": lambda a, b: max(greedy([a, b, 5, 4, 3], 2)),
    "19.3": lambda c: [p for p, owner in enumerate([1, 0, 1, c, 0, 1]) if owner == 1].index(5),
    "19.4": lambda n, P: sum(n // P for owner in range(1, P)),
    "20.1": lambda x, a, y, b: next(t for t in range(100) if abs((a - t) / x - (b - t) / y) < 1e-12),
    "20.2": lambda a, b, n, P: sum(a + n / P * b for step in range(2 * (P - 1))),
    "20.3": lambda n, k, s: mean(max(s if turn == 0 else 10 for turn in turns) for turns in product(range(k), repeat=n)),
    "20.4": lambda a, b, t: max(0, one_at_a_time([a, b], [t, t]) - 12),
    "21.1": lambda a, b, P: next(zeros for zeros in range(P) if (a + b + zeros) % P == 0),
    "21.2": lambda n, P: sum(n / P for message in range(3) for other in range(1, P)),
    "21.3": lambda a, b, c: max(sum(pair) for pair in ((a, b), (b, c))),
    "21.4": lambda s, P: len(set(range(2 * s // P, 4 * s // P)) & set(range(s))),
    "22.1": lambda n, s, i: n * (s + i) - n * s,
    "22.2": lambda f, b: (f + b) + f,
    "22.3": lambda p: next(n for n in range(1, 5000) if rounded(n + 1, p) == n),
    "22.4": lambda k: scale_after(2.0 ** k, [True, True]),
}


def all_draws(question):
    """Returns the values of a question's variables, for each combination."""
    sources = question.get("draw", {})
    lists = {name: source for name, source in sources.items() if isinstance(source, list)}
    for drawn in product(*lists.values()):
        values = dict(zip(lists, drawn))
        for name in [name for name in sources if name not in lists]:
            values[name] = value_of(sources[name], values)
        yield values


class Questions(unittest.TestCase):
    def test_each_lab_has_six_and_three_or_more_have_drawn_numbers(self):
        self.assertGreaterEqual({path.parent.name[:2] for path in QUIZZES}, {f"{n:02}" for n in range(21)})
        for path in QUIZZES:
            quiz = json.loads(path.read_text(encoding="utf-8"))
            self.assertEqual(len(quiz), 6, path)
            self.assertGreaterEqual(sum(len(list(all_draws(each))) > 1 for each in quiz), 3, path)

    def test_every_answer_is_found_in_another_way_and_every_text_has_its_numbers(self):
        numbers = set()
        for path, (index, question) in ((path, each) for path in QUIZZES for each in enumerate(
                json.loads(path.read_text(encoding="utf-8")), 1)):
            name = f"{path.parent.name[:2]}.{index}"
            for values in all_draws(question):
                told = question["ask"].format(**values) + question["why"].format(
                    **values, answer="")
                self.assertNotRegex(told, "[{}]", name)
                if "choices" in question:
                    self.assertEqual(len(set(question["choices"])), 3, name)
                    continue
                numbers.add(name)
                answer, other = value_of(question["answer"], values), ANSWERS[name]
                names = other.__code__.co_varnames[:other.__code__.co_argcount]
                self.assertAlmostEqual(answer, other(*map(values.get, names)), 3, (name, values))
        self.assertEqual(numbers, set(ANSWERS))


QUIZ = """[{"ask": "{n} plus {m}?", "draw": {"n": [3, 30, 300], "m": "n * n"}, "answer": "(n + m) / 2 * 2",
"why": "{n} + {m}."}, {"ask": "Which?", "choices": ["this", "that", "neither"], "why": "It is this."}]"""


class Verb(FakeTree):
    def setUp(self):
        super().setUp()
        self.patch(("lab_tool.verbs.quiz.Catalogue", self.catalogue))
        self.write("labs/07-partition/quiz.json", QUIZ)
        self.write("labs/00-whole/quiz.json", QUIZ)

    def test_a_seed_gives_the_same_numbers_and_choices(self):
        told = {self.call("quiz", "7", "--seed", str(seed), "--answers") for seed in range(200)}
        self.assertEqual(len({text.split("seed")[1].split("\n", 1)[1] for text in told}), 3 * 6)
        again = self.call("quiz", "7", "--seed", "4", "--print")
        self.assertEqual(again, self.call("quiz", "7", "--seed", "4", "--print"))
        self.assertNotIn("It is this.", again)
        self.assertNotIn("4", self.out.split("1.")[0])
        self.assertEqual(self.err, "seed 4\n")

    def test_answers_are_checked_and_explained(self):
        text = self.call("quiz", "0", "--seed", "1", "--print")
        n = int(text.split("1. ")[1].split()[0])
        letter = text.split(") this")[0][-1]
        with mock.patch("builtins.input", side_effect=[f"{n} + {n}*{n}", letter.upper()]):
            self.assertIn("2 of 2 right", self.call("quiz", "0", "--seed", "1"))
        with mock.patch("builtins.input", side_effect=["1", "x"]):
            told = self.call("quiz", "0", "--seed", "1")
        self.assertIn(f"no, it is {n + n * n}: {n} + {n * n}.", told)
        self.assertIn("0 of 2 right", told)
        with mock.patch("builtins.input", side_effect=EOFError):
            self.assertIn("lab: stopped", self.call("quiz", "7", code=130))
        self.assertIn("lab 09 has no quiz", self.call("quiz", "9", code=1))

    def test_an_answer_is_arithmetic_and_nothing_else(self):
        for given, answer in (("3/4", 0.75), ("0.752", 0.75), ("1,024", 1024), (" B) ", "b"), ("-2*5", -10)):
            self.assertTrue(fits(given, answer), given)
        for given, answer in (("0.77", 0.75), ("1023", 1024), ("a", "b"), ("a", 1), ("", 1), ("1/0", 1),
                              ("__import__('os')", 1), ("'1'", 1), ("(1).real", 1), ("[1][0]", 1)):
            self.assertFalse(fits(given, answer), given)
