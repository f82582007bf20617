"""The plot scripts parse the tables that the programs print."""

import importlib.util
import unittest
from pathlib import Path
from types import SimpleNamespace

LABS = Path(__file__).resolve().parents[2] / "labs"

DEALING = """\
Of 60000 samples the fractions 1/P lose:

  ranks P   lost by int(1/P * n)   lost with assign_remainder
        7                      3                            0

Blocks of the sorted digits:

  rank 0: classes 0 1 2

Accuracy after each epoch:

  plain, shuffled           0.913  0.938
  once an epoch, blocks     0.478  0.664
"""

PADDED = """\
  ranks   DistributedEvalSampler   DistributedSampler    drop_last
      3      91 of   100 0.9100      93 of   102 0.9118      90 of    99 0.9091
    101      91 of   100 0.9100      92 of   101 0.9109       0 of     0 0.0000
"""

RENDEZVOUS = """\
  ranks   rendezvous      barrier   requests
      1      0.01 ms      0.01 ms          5
     64    140.06 ms      8.01 ms       4352
"""

WORKERS = """\
  workers   fetch waits   fetch computes   in order
        0      12.24 ms         12.05 ms   yes
        2       4.18 ms          5.25 ms   yes
"""

COSTS = """\
4 ranks, 400 bytes each, 100Gbit,10us; sent by the busiest rank

algorithm             messages         bytes  time in us   bits of the ranks
naive                        3          1200        20.2   equal
tutorial                     3          1200        30.1   different

the fastest by its formula: naive
"""


def script(lab):
    spec = importlib.util.spec_from_file_location("measure", LABS / lab / "measure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Measure(unittest.TestCase):
    def test_the_accuracies_are_read_from_the_last_table(self):
        self.assertEqual(script("07-partition").lines_of(DEALING), {
            "plain, shuffled": [(1, 0.913), (2, 0.938)],
            "once an epoch, blocks": [(1, 0.478), (2, 0.664)]})

    def test_the_times_of_a_step_are_read_beside_their_prediction(self):
        workers = script("08-samplers-and-loader")
        self.assertEqual(workers.rows_of(WORKERS), [(0, 12.24, 12.05), (2, 4.18, 5.25)])
        self.assertEqual([workers.predicted(count) for count in (0, 1, 2, 4)], [12, 8, 4, 4])

    def test_an_accuracy_without_samples_is_left_out(self):
        self.assertEqual(script("09-distributed-sampler").lines_of(PADDED), {
            "DistributedEvalSampler": [(3, 0.91), (101, 0.91)],
            "DistributedSampler": [(3, 0.9118), (101, 0.9109)],
            "DistributedSampler, drop_last": [(3, 0.9091)]})

    def test_the_times_and_requests_of_a_rendezvous_are_read(self):
        self.assertEqual(script("10-store-and-rendezvous").rows_of(RENDEZVOUS),
                         [(1, 0.01, 0.01, 5), (64, 140.06, 8.01, 4352)])

    def test_a_line_is_whole_if_it_has_all_bytes_of_one_rank(self):
        launcher = script("12-launcher")
        self.assertEqual([launcher.is_whole(line, 4) for line in (b"aaa", b"[rank 1] bbb")],
                         [True, True])
        self.assertEqual([launcher.is_whole(line, 4) for line in (b"aab", b"aa", b"aaaa", b"")],
                         [False] * 4)

    def test_the_bytes_through_device_0_are_predicted_for_any_number_of_devices(self):
        traffic = script("13-data-parallel")
        self.assertEqual([traffic.predicted(count, 64) for count in (1, 2, 8)],
                         [0, 277632, 1403136])
        self.assertEqual(traffic.predicted(4, 9), traffic.predicted(3, 9))  # device 3 gets no rows

    def test_the_times_of_the_all_reduces_are_read_from_the_table(self):
        self.assertEqual(script("11-collectives").rows(COSTS), {"naive": 20.2, "tutorial": 30.1})

    def test_a_small_all_reduce_uses_recursive_doubling_and_a_large_one_a_ring(self):
        sweep = script("16-bucketed-ddp")
        link = sweep.parse_link("8Mbit,2ms")  # 1000 bytes per ms
        self.assertEqual(link, (1000, 2))
        self.assertEqual(sweep.all_reduce_ms(16384, 4, link), 2 * (2 + 16.384))
        self.assertEqual(sweep.all_reduce_ms(20000, 4, link), 6 * (2 + 5))

    def test_the_last_bucket_is_never_hidden(self):
        sweep = script("16-bucketed-ddp")
        self.assertEqual(sweep.predicted(10, 4, [1000, 2000], 2, (1000, 1)), (15, 13))
        self.assertEqual(sweep.predicted(10, 1, [1000, 2000], 2, (1000, 1)), (15, 14))
        self.assertEqual(sweep.predicted(10, 4, [3000], 2, (1000, 1)), (14, 14))

    def test_an_all_reduce_starts_when_its_gradient_is_ready_and_the_last_has_ended(self):
        hooks = script("15-ddp-by-hooks")
        options = SimpleNamespace(ranks=2, delay_ms=1)
        # Gradients are ready at 2, 5 and 10 ms; at 1000 bytes per ms their all-reduces take 3, 4
        # and 2 ms.
        gradients = [{"bytes": size, "launched_ms": ready, "begun_ms": ready}
                     for size, ready in ((2000, 2), (3000, 5), (1000, 10))]
        turn = {"none": {"step_ms": 20},
                "overlap": {"step_ms": 25, "backward_ms": 10, "gradients": gradients}}
        found = {rate: [turn] for rate in hooks.RATES}
        steps = [hooks.predicted(found, wrapper, 8, options) for wrapper in hooks.WRAPPERS]
        self.assertEqual(steps, [1 + 9 / 20, 1 + 7 / 20, 1 + 2 / 20])
        options.delay_ms = 2  # twice as long: from 2 to 8, 8 to 16, 16 to 20 ms
        self.assertEqual(hooks.predicted(found, "overlap", 4, options), 1 + 10 / 20)

    def test_the_runs_with_the_least_other_load_are_kept(self):
        sweep = script("16-bucketed-ddp")
        runs = [{"others": share} for share in (1.5, 0.1, 0.7)]
        self.assertEqual([turn["others"] for turn in sweep.quietest(runs, 2)], [0.1, 0.7])
        self.assertEqual(len(sweep.quietest(runs, 0)), 3)

    def test_sizes_that_give_the_same_buckets_are_one_row(self):
        sweep = script("16-bucketed-ddp")
        counts = (8, 3, 3, 2, 2, 1)
        found = {cap: [{"buckets": [4] * n}] for cap, n in zip(sweep.CAPS_KIB, counts)}
        self.assertEqual([caps for caps, _ in sweep.merged(found)],
                         [[0.01], [8, 16], [32, 64], [128]])


if __name__ == "__main__":
    unittest.main()
