"""labs/lab bench: the profile's table, the report and the charts, from made-up results."""

import unittest

from bench import bars, report, step_profile
from bench.made_up import BUSY, QUIET, answer, figure, result, results


class Profiles(unittest.TestCase):
    def test_a_row_has_both_directions_and_the_higher_floor_of_each(self):
        conv = step_profile.table(answer())[0]
        self.assertEqual((conv["forward_us"], conv["backward_us"], conv["us"]), (30.0, 60.0, 90.0))
        self.assertEqual(conv["floor_us"], 20.0 + 25.0)
        self.assertEqual(conv["over_floor"], 2.0)

    def test_the_named_parts_are_all_but_the_rest(self):
        found = step_profile.figures(answer(), QUIET)
        self.assertAlmostEqual(found["accounted"], 0.98)
        self.assertTrue(found["valid"], found["why_not"])

    def test_a_profile_is_not_valid_for_each_of_its_reasons(self):
        large_rest = answer()
        large_rest["parts"][-1]["us"] = 20.0
        large_rest["step_us"] = 118.0
        for reason, changed, noise in (("different losses", answer(same_loss=False), QUIET),
                                       ("1.40 cores", answer(), BUSY),
                                       ("only 83%", large_rest, QUIET),
                                       ("without them", answer(step_us=80.0), QUIET)):
            with self.subTest(reason):
                found = step_profile.figures(changed, noise)
                self.assertIn(reason, found["why_not"])
                self.assertFalse(found["valid"])


class Reports(unittest.TestCase):
    def test_numbers_have_three_significant_digits(self):
        for value, text in ((0, "0"), (0.01234, "0.0123"), (1.234, "1.23"), (12.34, "12.3"),
                            (99.96, "100"), (123.4, "123"), (1234.5, "1,234")):
            self.assertEqual(report.number(value), text)

    def test_the_table_has_medians_spreads_and_ratios(self):
        text = report.markdown(results(result("batch 64", 2.0)))
        self.assertIn("| case | libmini | PyTorch | PyTorch / libmini |", text)
        self.assertIn("| batch 64, ms | 2.00 (1.80 to 2.20) | 5.00 (4.50 to 5.50) "
                      "| 2.50 (2.25 to 2.75) |", text)
        self.assertIn("2026-11-25, 7 rounds, commit abc;", text)
        self.assertIn("100 GFLOP/s on 1, 200 GFLOP/s on 2", text)
        self.assertIn("- Gloo is absent", text)

    def test_cases_with_other_contenders_have_their_own_table(self):
        alone = result("batch 128", 1.0)
        del alone["contenders"]["PyTorch"]
        alone["ratios"] = []
        text = report.markdown(results(result("batch 64", 2.0), alone))
        self.assertIn("| case | libmini |\n", text)

    def test_what_is_not_valid_is_marked_with_its_reason(self):
        found = results(result("batch 64", 2.0, valid=False),
                        profiles=[step_profile.figures(answer(), BUSY)])
        text = report.markdown(found)
        self.assertIn("| batch 64, ms (not valid) |", text)
        self.assertIn("Not valid: batch 64: other processes used 1.40 cores", text)
        self.assertEqual([name for name, _ in report.invalid(found)],
                         ["step/batch 64", "profile/batch 64"])

    def test_the_profile_is_a_table_of_parts(self):
        text = report.markdown(results(profiles=[step_profile.figures(answer(), QUIET)]))
        self.assertIn("the named parts are 98.0% of it", text)
        self.assertIn("| conv1 | 30 | 60 | 90.0% | 45.0 | 2.0 |", text)

    def test_a_chart_has_a_bar_per_peer_and_case(self):
        drawn = bars.ratios("A < B", bars.groups_of([result("batch 64", 2.0),
                                                     result("batch 128", 3.0)]))
        self.assertEqual(drawn["groups"], ["batch 64", "batch 128"])
        self.assertEqual(drawn["series"], [{"name": "PyTorch", "values": [2.5, 2.5],
                                            "spreads": [[2.25, 2.75]] * 2,
                                            "texts": ["2.50", "2.50"]}])

    def test_a_peer_without_a_figure_has_no_bar(self):
        drawn = bars.ratios("x", [("a", {"PyTorch": figure(12.0)}), ("b", {"Gloo": figure(0.5)})])
        self.assertEqual([series["values"] for series in drawn["series"]],
                         [[12.0, None], [None, 0.5]])
        self.assertEqual(drawn["series"][0]["texts"], ["12", ""])

    def test_a_chart_of_a_profile_has_a_bar_per_direction_and_a_floor(self):
        drawn = bars.profile("A step", step_profile.figures(answer(), QUIET))
        forward, backward = (series["values"] for series in drawn["series"])
        self.assertEqual((forward[0], backward[0]), (30.0, 60.0))
        self.assertEqual([value is None for value in backward], [False, True, True])
        self.assertEqual(drawn["marks"][0]["values"][0], 45.0)

    def test_a_chart_shows_no_cost_of_communication(self):
        cost = result("DDP", 1.0)
        cost["ratios"].append({"of": "libmini", "to": "libmini alone", **figure(1.1)})
        self.assertEqual(list(bars.groups_of([cost])[0][1]), ["PyTorch"])

    def test_a_chart_marks_what_is_not_valid(self):
        groups = bars.groups_of([result("batch 64", 2.0, valid=False), result("batch 128", 3.0)])
        self.assertEqual([case for case, _ in groups], ["batch 64 (not valid)", "batch 128"])


if __name__ == "__main__":
    unittest.main()
