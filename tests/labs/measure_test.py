"""What the scripts that draw read out of the tables that the programs print."""

import importlib.util
import unittest
from pathlib import Path

LABS = Path(__file__).resolve().parents[2] / "labs"

DEALING = """\
Of 60000 samples the fractions 1/P lose:

  ranks P   lost by int(1/P * n)   lost with assign_remainder
        7                      3                            0

Rank 0 of 4 has seen, of all samples:

  epochs   DataPartitioner   DistributedSampler   1 - (1 - 1/P)^epochs
       1            0.2500               0.2500                 0.2500
       2            0.2500               0.4365                 0.4375

Dealing takes 1.18 ms once with DataPartitioner, 0.34 ms an epoch with
DistributedSampler.
"""

PADDED = """\
  ranks   DistributedEvalSampler   DistributedSampler    drop_last
      3      91 of   100 0.9100      93 of   102 0.9118      90 of    99 0.9091
    101      91 of   100 0.9100      92 of   101 0.9109       0 of     0 0.0000
"""


def script(lab):
    spec = importlib.util.spec_from_file_location("measure", LABS / lab / "measure.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


class Measure(unittest.TestCase):
    def test_what_rank_0_has_seen_is_the_last_table(self):
        self.assertEqual(script("07-partition").rows_of(DEALING),
                         [[1, 0.25, 0.25, 0.25], [2, 0.25, 0.4365, 0.4375]])

    def test_an_accuracy_of_nothing_is_left_out(self):
        self.assertEqual(script("09-distributed-sampler").lines_of(PADDED), {
            "DistributedEvalSampler": [(3, 0.91), (101, 0.91)],
            "DistributedSampler": [(3, 0.9118), (101, 0.9109)],
            "DistributedSampler, drop_last": [(3, 0.9091)]})


if __name__ == "__main__":
    unittest.main()
