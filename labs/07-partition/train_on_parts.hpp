// Trains one small network per rank, each on its own part of the digits.

#pragma once

#include <string>
#include <vector>

#include "libmini/data/partition.hpp"

namespace mini::labs {

/// How a network is trained.
struct Way {
    std::string name;
    bool batch_norm = false;
    bool each_epoch = false;  // average the parameters each epoch, no gradients
};

/// Trains on one rank, a thread, for each of the parts, from equal weights on all ranks:
/// one hidden layer, batches of 20 per rank. Returns the accuracy on `test` after each
/// epoch, 0 to 1, as the mean over the ranks' own networks. Blocks until done.
/// REQUIRES: parts of equal size; samples are digits of 28 by 28 pixels.
std::vector<double> train_on_parts(const Way& way,
                                   const std::vector<data::Partition>& parts, int epochs,
                                   const data::Dataset& test);

}  // namespace mini::labs
