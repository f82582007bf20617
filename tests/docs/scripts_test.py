"""Tests of the scripts that make the site's pages; Doxygen is not needed."""

import tempfile
import unittest
from pathlib import Path
from types import SimpleNamespace

import build
import header_filter
import components
import labs
import markdown
import slides
import translations
import validation
from lab_tool.catalogue import Task


class Extent(unittest.TestCase):
    def test_the_hours_of_a_part_are_added_up(self):
        with tempfile.TemporaryDirectory() as folder:
            shown = labs.cards([lab_with(Path(folder), "01", "Time: 4 hours, a few lines."),
                                lab_with(Path(folder), "02", "Time: 2 hours.")])
            self.assertIn("<h2>Part I: one process</h2>\n<p>6 hours</p>", shown)
            self.assertNotIn("Part II", shown)

    def test_a_page_without_its_time_is_named(self):
        with tempfile.TemporaryDirectory() as folder:
            with self.assertRaisesRegex(SystemExit, "01-lab/README.md has no line such as"):
                labs.hours_of(lab_with(Path(folder), "01", "It takes time."))


def lab_with(folder, number, text):
    (folder / f"{number}-lab").mkdir(exist_ok=True)
    (folder / f"{number}-lab/README.md").write_text(f"# Lab\n\n{text}\n", encoding="utf-8")
    return SimpleNamespace(number=number, folder=folder / f"{number}-lab", title="Lab", tasks=[])


class Slides(unittest.TestCase):
    def test_a_slide_has_the_beginnings_of_paragraphs_and_one_large_thing(self):
        table = "<table><tr>\n<td>1\n</table>"
        found = slides.slides_of("Rings", (
            f"<p >A ring <b>sends. It</b> waits. Who? More. More.</p>{table}<p >Then:</p><pre>a\nb\n</pre>"
            "<details><p >The answer.</p></details>" f"<p >{99 * 'Long. '}Fits?</p>"))
        self.assertEqual(found, [("Rings", ["<p>A ring <b>sends. It</b> waits. Who?</p>", table]),
                                 ("Rings", ["<p>Then:</p>", "<pre>a\nb\n</pre>"])])

    def test_tasks_and_what_belongs_to_them_are_left_out(self):
        page = slides.CONTENTS + '<div class="textblock"><p >Begin.</p>' + "".join(
            f"<h{level}>{head}</h{level}><p >{head}.</p>" for level, head in (
                (2, "The idea"), (3, "Trees"), (2, "Bug hunt"), (3, "Where"), (2, "Questions")))
        self.assertEqual([head for head, _ in slides.deck("Lab 07", page, "")],
                         ["Lab 07", "The idea", "Trees", "Questions"])


class Validation(unittest.TestCase):
    def test_the_page_has_the_grades_the_mutants_of_a_lab_and_failed_runs(self):
        run = {"minutes": 7.5, "load": 2.1, "date": "2026-11-30", "commit": "1a2b3c4", "machine": "EPYC, 2 cores"}
        check = ("lab07.1/a   case one\nlab07.2/b   case\nWRONG: mutant lab07.2/c survives: x\n"
                 "dev check: 1 labs, 3 mutants, 2 killed, 1 wrong, 450 s")
        page = validation.page_of([
            {"part": "check", "code": 1, "output": check, **run},
            {"part": "grades", "code": 0, "output": "frames: 0 of 70 points\n"
             "the reference: 75 of 70 points\n", **run}], {"07": 2}, "0.3.0")
        for line in ("# Validation of 0.3.0", "| frames | 0 of 70 |", "| 07 | 2 | 3 | 2 |",
                     "| `labs/lab dev check` | failed, exit code 1 | 7.5 | 2.1 | 2026-11-30 | 1a2b3c4 | 1 |",
                     "Machine 1: EPYC, 2 cores.", "- `tests/labs/course_end_to_end.py`"):
            self.assertIn(f"\n{line}\n", f"\n{page}")


class HeaderFilter(unittest.TestCase):
    def test_a_margin_comment_documents_the_declaration_on_its_line(self):
        self.assertEqual(header_filter.filtered("    int rank = 0;  // of this process"),
                         "    int rank = 0;  ///< of this process")

    def test_a_comment_on_a_line_of_its_own_stays(self):
        self.assertEqual(header_filter.filtered("    // Collectives."), "    // Collectives.")

    def test_a_contract_holds_up_to_the_next_blank_line(self):
        text = "    /// Both.\n    int rank();\n    int size();\n\n    int other();"
        self.assertEqual(header_filter.filtered(text),
                         "    /// Both.\n    int rank();\n    /** \\brief Both. */ int size();\n\n"
                         "    int other();")

    def test_a_declaration_over_several_lines_is_one(self):
        text = "/// Both.\nvoid a(int x,\n       int y);\nvoid b(int x);"
        self.assertEqual(header_filter.filtered(text),
                         "/// Both.\nvoid a(int x,\n       int y);\n/** \\brief Both. */ void b(int x);")

    def test_the_number_of_lines_stays_the_same(self):
        text = (build.ROOT / "libmini/distributed/group/process_group.hpp").read_text(encoding="utf-8")
        self.assertEqual(header_filter.filtered(text).count("\n"), text.count("\n"))

    def test_the_head_documents_the_class_that_it_names(self):
        text = "// Transport: sends.\n\n#pragma once\n\nclass Transport {\n};\n\nclass Other {\n};"
        filtered = header_filter.filtered(text)
        self.assertIn("/** \\brief Transport: sends. */ class Transport {", filtered)
        self.assertTrue(filtered.startswith("/** \\file\nTransport: sends. */\n#pragma once\n"))
        self.assertIn("\nclass Other {", filtered)


class Markdown(unittest.TestCase):
    def test_characters_special_to_doxygen_are_escaped_in_prose_only(self):
        self.assertEqual(markdown.for_doxygen("all_reduce #5, `#5` and x@y"),
                         "all_reduce \\#5, `#5` and x\\@y")
        self.assertEqual(markdown.for_doxygen("So:\n\n    x #7 @y\n"), "So:\n\n    x #7 @y\n")

    def test_a_picture_over_two_lines_keeps_its_description(self):
        page = markdown.for_doxygen("![Ten\nsamples](a.svg)", picture=lambda name: f"07-{name}")
        self.assertIn('<img src="07-a.svg" alt="Ten samples"/>', page)

    def test_a_link_to_a_page_of_the_site_is_a_reference(self):
        self.assertEqual(markdown.for_doxygen("a [rank](../../docs/pages/glossary.md), b"),
                         "a [rank](@ref glossary), b")
        self.assertEqual(markdown.with_references("[a](labs.md), [b](../pages/labs.md)", "docs/zh"),
                         "[a](@ref zh_labs), [b](@ref labs)")
        self.assertEqual(markdown.for_doxygen("is [*sharding*](../../docs/pages/glossary.md)"),
                         "is <em>[sharding](@ref glossary)</em>")

    def test_a_link_to_another_lab_is_a_reference_to_its_page(self):
        self.assertEqual(markdown.for_doxygen("as in [lab 03](../03-autograd/README.md)."),
                         "as in [lab 03](@ref lab03).")
        self.assertEqual(markdown.for_doxygen("[the rest](../03-autograd/going_further.md)"),
                         "[the rest](@ref lab03_further)")

    def test_the_place_of_a_figure_is_a_comment_in_the_readme(self):
        page = markdown.for_doxygen("![Ring](ring.svg)\n\n<!-- figure: collectives -->\n")
        self.assertIn('<div class="player" data-figure="collectives"></div>', page)
        for script in ("figure_collectives.js", "figures.js", "draw_collectives.js"):
            self.assertIn(f'<script src="{script}"></script>', page)
        self.assertIn("<!-- other: x -->", markdown.for_doxygen("<!-- other: x -->\n"))

    def test_details_are_passed_to_the_browser(self):
        page = markdown.for_doxygen("1. Why?\n\n   <details><summary>Answer</summary>\n\n   So.\n\n"
                                    "   </details>\n")
        self.assertIn('   <details class="answer"><summary>Answer</summary>\n   \\endhtmlonly', page)
        self.assertEqual(page.count("\\htmlonly[block]"), 2)
        self.assertEqual(page.count("\\endhtmlonly"), 2)

    def test_students_get_no_answers_and_two_hints(self):
        answer, second, third = (markdown.folded(*each, "A.\n") for each in (
            ("answer", "Answer"), ("hint", "Hint 2"), ("hint", "Hint 3")))
        page = f"## Warm-up\n\n{answer}{second}{third}## Questions\n{answer}[A](@ref grading)"
        self.assertEqual(build.for_students(page), f"## Warm-up\n\n{answer}{second}## Questions\nA")


class Chinese(unittest.TestCase):
    def test_lines_are_joined_and_what_doxygen_would_miss_is_marked(self):
        self.assertEqual(translations.prepared("甲，\n乙 **丙**\n（丁）5 %，\na b\n\n    x，\n    乙\n"),
                         "甲，乙 <b>丙</b>（丁）5 \\%，a b\n\n    x，\n    乙\n")
        self.assertEqual(translations.prepared("甲：\n1. 乙"), "甲：\n1. 乙")


class Hints(unittest.TestCase):
    def test_code_at_the_beginning_of_a_hint_stays_code(self):
        task = Task("07.1", "Do it", "", "it is done")
        lab = SimpleNamespace(hints=lambda name: ["    if (a)\n        b();\n\nThen c.\n\n    d();",
                                                  "Do b.\n\n    b();"])
        section = labs.task_section(lab, task)
        self.assertIn("\\code{.cpp}\nif (a)\n    b();\n\\endcode\n\nThen c.\n\n    d();\n", section)
        self.assertIn("\\endhtmlonly\nDo b.\n\n    b();\n", section)


class Components(unittest.TestCase):
    NEEDS = {"core": set(), "tensor": {"core"}, "nn": {"tensor", "core"}}

    def test_a_component_is_above_all_components_that_it_needs(self):
        self.assertEqual(components.layers(self.NEEDS), {"core": 1, "tensor": 2, "nn": 3})

    def test_arrows_leave_out_components_that_are_reached_through_another_component(self):
        self.assertEqual(components.direct("nn", self.NEEDS), ["tensor"])

    def test_a_circular_dependency_is_an_error(self):
        with self.assertRaisesRegex(SystemExit, "nn, tensor"):
            components.layers({**self.NEEDS, "tensor": {"nn"}})

    def test_the_components_are_those_of_the_build(self):
        found = components.components(build.ROOT)
        self.assertLessEqual({"core", "kernels", "tensor", "nn", "parallel"}, set(found))
        self.assertLessEqual(set(found), set(components.WHAT))


class Warnings(unittest.TestCase):
    def counted(self, member):
        return len(build.counted_warnings(f"a.hpp:1: warning: {member} is not documented.\n" * 2))

    def test_types_and_functions_with_arguments_must_be_documented(self):
        for member in ("Compound mini::Device", "Member all(int i) (function) of class mini::A",
                       "Member all(int i) (function) of namespace mini",
                       "Member State (enumeration) of class mini::A"):
            with self.subTest(member):
                self.assertEqual(self.counted(member), 1)

    def test_fields_accessors_and_constructors_need_no_documentation(self):
        for member in ("Member index (variable) of struct mini::Device",
                       "Member rank() const =0 (function) of class mini::dist::Transport",
                       "Member Half(float value) (function) of class mini::Half",
                       "Member operator==(const Half &) const (function) of class mini::Half"):
            with self.subTest(member):
                self.assertEqual(self.counted(member), 0)

    def test_every_other_warning_counts(self):
        self.assertEqual(build.counted_warnings("a.md:1: warning: unable to resolve\n"),
                         ["a.md:1: warning: unable to resolve"])
