// How often a model is right, counted on several ranks: each counts what its loader gives
// it, and the counts, not the shares, are added up once.
//
//     n = 10, P = 3     rank 0   3 right of 4     0.75
//                       rank 1   3 right of 3     1.00     mean of the shares   0.916..
//                       rank 2   3 right of 3     1.00     together             9 of 10
//
// One all-reduce of two numbers, however many batches there are. That is why ranks may
// have different numbers of batches: no batch waits for another rank's.

#pragma once

#include <cstdint>

#include "libmini/data/loader.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::training {

/// How many samples were looked at, and how many of them were right.
struct Accuracy {
    int64_t correct = 0;
    int64_t seen = 0;

    /// The share that is correct, 0 to 1; 0 of nothing.
    double share() const {
        return seen == 0 ? 0.0 : static_cast<double>(correct) / static_cast<double>(seen);
    }
    bool operator==(const Accuracy&) const = default;
};

/// Goes through `loader` once, in evaluation mode and without recording gradients, and
/// counts the samples, and those whose target is the largest of the model's outputs, of
/// all ranks together. REQUIRES: targets are classes, outputs (N, classes). Exact when
/// each sample is in the loader of exactly one rank (data::DistributedEvalSampler).
/// Leaves the model in the mode it was in. Blocks until all ranks have come here.
Accuracy count_correct(nn::Module& model, data::DataLoader& loader,
                       dist::ProcessGroup& group);

}  // namespace mini::training
