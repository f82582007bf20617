"""Asks the six questions of a lab's quiz, checks your answers, and explains.

    labs/lab quiz 9                      with new numbers in each run
    labs/lab quiz 9 --print              a sheet; its seed is printed on stderr
    labs/lab quiz 9 --seed 4 --answers   the questions with the answers

Answer with a letter or a number; 3/4 and 2*7 are numbers, too. A quiz gives no
points."""

import ast
import json
import random
import sys

from lab_tool import report
from lab_tool.catalogue import Catalogue
from lab_tool.screen import LabError, say

ARITHMETIC = (ast.Expression, ast.BinOp, ast.UnaryOp, ast.Compare, ast.Call, ast.Constant, ast.Name,
              ast.operator, ast.unaryop, ast.cmpop, ast.Load)


def add_arguments(parser):
    parser.add_argument("lab", metavar="N", help="the lab's number: 9")
    parser.add_argument("--seed", type=int, metavar="S", help="of the numbers (drawn)")
    parser.add_argument("--print", action="store_true", help="print the questions, and do not ask")
    parser.add_argument("--answers", action="store_true", help="print the answers, too")


def run(options):
    catalogue, right = Catalogue(), 0
    lab = options.lab in ("0", "00") and catalogue.lab00 or catalogue.lab(options.lab)
    if catalogue.course and options.answers:
        raise LabError("a course prints no key to a sheet; without --answers, quiz asks and explains")
    seed = random.randrange(10**6) if options.seed is None else options.seed
    questions, asks = quiz_of(lab, seed), not (options.print or options.answers)
    say(f"{report.head(lab)} · quiz")
    say(f"seed {seed}", file=sys.stdout if asks or options.answers else sys.stderr)  # not on a sheet
    for number, (lines, answer, why) in enumerate(questions, 1):
        say()
        for line in [f"{number}. {lines[0]}", *lines[1:]]:
            report.say_wrapped(line, "")
        if asks:
            fit = fits(input("   > "), answer)
            right += fit
            report.say_wrapped(f"{'right' if fit else f'no, it is {answer}'}: {why}", "   ")
        elif options.answers:
            report.say_wrapped(f"{answer}: {why}", "   ")
    if asks:
        say(f"\n{right} of {len(questions)} right; with other numbers: labs/lab quiz {lab.number}")
    return 0


def quiz_of(lab, seed):
    """Returns the questions of a lab's quiz.json with a seed's numbers; see drawn()."""
    path = lab.folder / "quiz.json"
    if not path.exists():
        raise LabError(f"lab {lab.number} has no quiz")
    chance = random.Random(f"{lab.number} {seed}")
    return [drawn(question, chance) for question in json.loads(path.read_text(encoding="utf-8"))]


def drawn(question, chance):
    """Returns (lines, answer, explanation) of a question. Its variables are drawn from lists, or
    computed from earlier ones; the first of its choices is right."""
    values, choices = {}, question.get("choices", [])
    for name, source in question.get("draw", {}).items():
        values[name] = value_of(source, values) if isinstance(source, str) else chance.choice(source)
    mixed = chance.sample(choices, len(choices))
    answer = "abcd"[mixed.index(choices[0])] if choices else value_of(question["answer"], values)
    return ([question["ask"].format(**values), *map("   {}) {}".format, "abcd", mixed)], answer,
            question["why"].format(**values, answer=answer))


def value_of(expression, values):
    """Returns the value of an arithmetic expression; raises ValueError for another one."""
    tree = ast.parse(expression.strip(), mode="eval")
    if not all(isinstance(node, ARITHMETIC) for node in ast.walk(tree)):
        raise ValueError(f"{expression} is no arithmetic")
    value = eval(compile(tree, "", "eval"), {"__builtins__": {}, "max": max, "min": min}, values)
    short = round(value, 4)
    return int(short) if short == int(short) else short


def fits(given, answer):
    """Returns whether an answer is right: a letter, an integer, or another number within 1 %."""
    if isinstance(answer, str):
        return given.strip(" )").lower() == answer
    try:
        error = abs(value_of(given.replace(",", ""), {}) - answer)
    except (SyntaxError, ValueError, TypeError, NameError, ArithmeticError):
        return False
    return error <= 0.01 * abs(answer) * isinstance(answer, float)
