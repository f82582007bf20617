"""A verdict and its description are made from Catch2's XML and from how the process ended."""

import unittest
from pathlib import Path
from xml.sax.saxutils import escape

from author_tool.dev_check import judge_all
from lab_tool.runner import Limits, ProcessResult
from lab_tool.verdict import judge

ROOT = Path("/src/libmini")
HEAD = '<?xml version="1.0"?>\n<Catch name="lab07_check"><Group name="lab07_check">'
TAIL = "</Group></Catch>"
LIMITS = Limits(seconds=40, output_bytes=8 << 20)


def case(name, inside="", success="true"):
    return (f'<TestCase name="{name}" tags="[lab07]" filename="t.cpp" line="9">{inside}'
            f'<OverallResult success="{success}" durationInSeconds="0.5"/></TestCase>')


FAILURE = """
<Info>rank 1 should get 1 4 7 0</Info>
<Expression success="false" type="CHECK" filename="labs/07-partition/test.cpp" line="41">
  <Original>got == expected</Original>
  <Expanded>{ 1, 4 } == { 1, 4, 7, 0 }</Expanded>
</Expression>"""
STUB = ("<Exception filename='t.cpp' line='9'>[lab07.1] not started: Look it up.</Exception>")


def verdict(result="", **ended):
    return judge("a case", ProcessResult(**ended), result, LIMITS, ROOT)


def failed(inside):
    return verdict(HEAD + case("a case", inside, "false") + TAIL, code=1)


class Judge(unittest.TestCase):
    def test_a_complete_successful_result_and_exit_code_0_pass(self):
        self.assertEqual(verdict(HEAD + case("a case") + TAIL).status, "passed")

    def test_a_failure_is_described_step_by_step(self):
        found = failed(FAILURE)
        self.assertEqual(found.status, "failed")
        self.assertEqual(found.story, [
            "rank 1 should get 1 4 7 0", "yours     { 1, 4 }", "expected  { 1, 4, 7, 0 }",
            "CHECK( got == expected )", "  at labs/07-partition/test.cpp:41"])

    def values(self, original, expanded, kind="CHECK"):
        inside = (f'<Expression success="false" type="{kind}" filename="t.cpp" line="1">'
                  f"<Original>{escape(original)}</Original><Expanded>{escape(expanded)}</Expanded>"
                  "</Expression>")
        return failed(inside).story[:-1]

    def test_the_values_are_labelled_and_those_that_cannot_be_printed_are_left_out(self):
        for original, expanded, told in (
                ("a == b", "1 == 2", ["yours     1", "expected  2"]),
                ("error < 0.1", "0.5 < 0.1", ["yours     0.5", "expected  < 0.1"]),
                ("a == b", '"x == y" == "x"', ['yours == expected: "x == y" == "x"']),
                ("near(a)", "false", ["yours     false"]),
                ("a, Contains(b)", '"a" contains: "b"', ['yours     "a"', 'expected  a text with "b"']),
                ("a == b", "inff == -nanf", ["yours     inf", "expected  -nan"]),
                ("a == b", "{?} == {?}", []), ("near(a)", "near(a)", [])):
            self.assertEqual(self.values(original, expanded), [*told, f"CHECK( {original} )"])

    def test_an_expectation_that_something_is_false_is_not_negated_twice(self):
        self.assertEqual(self.values("!(y.requires_grad())", "!true", "CHECK_FALSE"),
                         ["yours     true", "CHECK_FALSE( y.requires_grad() )"])

    def test_a_case_that_a_sanitizer_ends_tells_its_messages_and_no_address_map(self):
        inside = "<Info>2^40 paths, 80 edges</Info><FatalErrorCondition filename='t.cpp' line='3'>" \
                 "ended by a sanitizer</FatalErrorCondition>"
        found = verdict(HEAD + case("a case", inside, "false") + TAIL, code=1, output=(
            "==7==AddressSanitizer: hard rss limit exhausted (3072Mb vs 3080Mb)\n0x7f1e-ld-linux"))
        self.assertEqual((found.reason, found.story),
                         ("used more memory than a case may have", ["2^40 paths, 80 edges"]))

    def test_an_exception_in_an_expectation_is_told_with_its_text(self):
        place = 'success="false" filename="labs/07-partition/test.cpp" line="41"'
        unknown = "<Original>{Unknown expression after the reported line}</Original>"
        thrown = "<Exception>Exception translation was disabled by CATCH_CONFIG_FAST_COMPILE"
        ended = (f'<Info>the step</Info><Expression type="CHECK" {place}>'
                 f'<Original>cut(0)</Original>{thrown}</Exception></Expression>')
        within = ended.replace(thrown, "<Exception>no parts")
        outside = (f'<Info>the step</Info><Expression {place}>{unknown}'
                   '<Exception>no parts</Exception></Expression>')
        end = "  at labs/07-partition/test.cpp:41"
        self.assertEqual(failed(within).story,
                         ["the step", "CHECK( cut(0) )", "  threw: no parts", end])
        self.assertEqual(failed(outside).story, ["the step", "threw: no parts", end])
        died = f'<Expression {place}>{unknown}<FatalErrorCondition>SIGSEGV</FatalErrorCondition></Expression>'
        self.assertEqual(failed(died).story[:2], ["the case ended after this line", end])
        fail = f'<Info>the cause</Info><Failure {place}>wrong</Failure>'
        self.assertEqual(failed(fail + ended).story, ["the cause", "wrong", end])

    def test_an_index_that_does_not_exist_is_explained_with_the_task_of_the_case(self):
        thrown = "<Exception filename='labs/t.cpp' line='41'>map::at</Exception>"
        text = (HEAD + case("a case", thrown, "false") + TAIL).replace("[lab07]", "[lab07][lab07.2]")
        self.assertEqual(verdict(text, code=1).story, [
            "threw: map::at (std::out_of_range: there is no such key or index), in a case of 07.2",
            "  at labs/t.cpp:41"])

    def test_the_stacks_of_a_report_say_what_was_done_there(self):
        frame = "    #0 0x1 in mini::{}(int) ../../work/07-partition/part.cpp:{}\n"
        told = ("==7==ERROR: AddressSanitizer: heap-use-after-free on address 0x1 (pc 0x2)\n"
                + frame.format("Part::operator()", 1) + "\nfreed by thread T1 here:\n"
                + frame.format("drop", 2) + frame.format("Part::operator<", 3)
                + "\npreviously allocated by thread T0 here:\n" + frame.format("make", 4)
                + "\nThread T1 (loader) created by T0 here:\n" + frame.format("begin", 5))
        at = "at work/07-partition/part.cpp"
        self.assertEqual(verdict(code=1, output=told).story, [
            f"used in Part::operator() {at}:1", f"freed in drop {at}:2",
            f"  in Part::operator< {at}:3", f"allocated in make {at}:4", f"created in begin {at}:5"])

    def test_many_failures_are_counted_and_not_all_shown(self):
        found = failed(5 * FAILURE)
        self.assertEqual(found.story[-1], "and 4 more like this")
        self.assertEqual(found.story.count("rank 1 should get 1 4 7 0"), 1)

    def test_failures_at_up_to_three_lines_of_the_check_are_shown(self):
        others = "".join(FAILURE.replace('"41"', f'"{line}"') for line in (42, 43, 44))
        story = failed(2 * FAILURE + others).story
        self.assertEqual([line for line in story if "test.cpp" in line],
                         [f"  at labs/07-partition/test.cpp:{line}" for line in (41, 42, 43)])
        self.assertEqual(story[-1], "and 2 more like these")

    def test_an_assertion_of_the_standard_library_is_named(self):
        found = verdict(code=-6, output="""\
/usr/include/c++/12/optional:447: constexpr T& f() [with T = int]: Assertion 'this->_M_is_engaged()' failed.
==7==ERROR: AddressSanitizer: ABRT on unknown address 0x32b8 (pc 0x7f)""")
        self.assertEqual(found.reason, "an assertion of the standard library failed: "
                                       "this->_M_is_engaged()")

    def test_a_stub_in_the_result_or_in_the_output_gives_not_started(self):
        for result, output in ((HEAD + case("a case", STUB, "false") + TAIL, ""),
                               ("", "terminate called\n what(): [lab07.1] not started: Do.")):
            found = verdict(result, code=1, output=output)
            self.assertEqual((found.status, found.waits_for), ("not started", "07.1"))

    def test_a_missing_result_is_a_failure_for_any_exit_code(self):
        self.assertIn("exited with code 0 before its result", verdict(code=0).reason)
        self.assertEqual(verdict(HEAD, code=0).status, "failed")
        self.assertIn("was ended by SIGSEGV", verdict(code=-11).reason)

    def test_a_successful_result_with_a_failing_exit_code_is_a_failure(self):
        found = verdict(HEAD + case("a case") + TAIL, code=1, output="""\
==7==ERROR: LeakSanitizer: detected memory leaks
    #0 0x1 in operator new(unsigned long) /gcc/asan_new.cpp:99
    #1 0x2 in mini::data::cut(int) ../../work/libmini/data/part.cpp:12
    #2 0x3 in C_A_T_C_H_T_E_S_T_0 /src/libmini/labs/07-partition/test.cpp:8""")
        self.assertEqual(found.status, "failed")
        self.assertIn("LeakSanitizer: detected memory leaks", found.reason)
        self.assertEqual(found.story, ["in data::cut at work/libmini/data/part.cpp:12",
                                       "in the check at labs/07-partition/test.cpp:8"])

    def test_a_deadlock_is_reported_with_the_stack_of_each_rank(self):
        stack = "== stack of rank {}\n  #1 0x2 in mini::dist::Ring::wait() {}/libmini/ring.cpp:{}"
        found = verdict(killed_for="time", code=-9, stacks=[
            stack.format(0, ROOT, 4), stack.format(1, ROOT, 8), "== stack of a thread\n#1 0x2 in x"])
        self.assertTrue(found.late)
        self.assertIn("did not end within 40 s", found.reason)
        self.assertEqual(found.story, ["rank 0 was in dist::Ring::wait at libmini/ring.cpp:4",
                                       "rank 1 was in dist::Ring::wait at libmini/ring.cpp:8"])

    def test_a_function_that_is_not_written_is_named(self):
        text = "[lab07.1,07.4] not started: work/libmini/part.cpp does not define Part::operator&lt;"
        thrown = f"<Exception filename='t.cpp' line='9'>\n  {text}\n</Exception>"
        for found in (failed(thrown),
                      verdict(code=-6, output=f"terminate called\n  what():  {text}\n"),
                      verdict(code=-6, output=text.replace("&lt;", "<") + "\n")):
            self.assertEqual((found.status, found.waits_for), ("not started", "07.1,07.4"))
            self.assertEqual(found.lacks, "work/libmini/part.cpp does not define Part::operator<")

    def test_a_thread_that_was_not_joined_is_a_likely_cause(self):
        found = verdict(code=-6, output="terminate called without an active exception\n")
        self.assertEqual(found.story, ["terminate called without an active exception: was a "
                                       "std::thread destroyed before join()?"])

    def test_too_much_output_is_reported_with_its_first_lines(self):
        found = verdict(killed_for="output", code=-9, output="one\ntwo\nthree\nfour")
        self.assertIn("more than 8 MiB", found.reason)
        self.assertEqual(found.story[1:], ["  one", "  two", "  three"])


class Together(unittest.TestCase):
    def test_each_case_of_a_complete_result_has_a_verdict(self):
        found = judge_all(HEAD + case("a") + case("b", FAILURE, "false")
                          + case("c", STUB, "false") + TAIL)
        self.assertEqual({name: each.status for name, each in found.items()},
                         {"a": "passed", "b": "failed", "c": "not started"})

    def test_a_case_that_ended_the_process_has_no_verdict_yet(self):
        fatal = "<FatalErrorCondition filename='t.cpp' line='3'>SIGABRT</FatalErrorCondition>"
        found = judge_all(HEAD + case("a") + case("b", fatal, "false") + TAIL)
        self.assertEqual(list(found), ["a"])

    def test_a_truncated_result_gives_no_verdicts(self):
        self.assertEqual(judge_all(HEAD + case("a")), {})
