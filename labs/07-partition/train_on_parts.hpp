// Trains a small network on several ranks, each rank on its own part of the digits.

#pragma once

#include <string>
#include <vector>

#include "libmini/data/partition.hpp"

namespace mini::labs {

/// How a network is trained.
struct Variant {
    std::string name;
    bool batch_norm = false;
    bool each_epoch = false;  // average parameters after each epoch, and no gradients
};

/// Trains a network with one hidden layer on each part, with one rank (a thread) per part
/// and 20 samples per batch on each rank. All ranks start with equal weights. Returns the
/// accuracy on `test` (0 to 1) after each epoch: the mean over the ranks' networks.
/// Blocks until done. REQUIRES: the parts have equal sizes; samples are digits of 28 by
/// 28 pixels.
std::vector<double> train_on_parts(const Variant& variant,
                                   const std::vector<data::Partition>& parts, int epochs,
                                   const data::Dataset& test);

}  // namespace mini::labs
