// Distributed evaluation: each rank counts the correct predictions for the batches of its
// own loader; at the end the counts, not the accuracies, are summed over the ranks.
//
//     n = 10, P = 3     rank 0   3 of 4 correct   0.75
//                       rank 1   3 of 3 correct   1.00     mean of accuracies   0.916..
//                       rank 2   3 of 3 correct   1.00     sum of counts        9 of 10
//
// One all-reduce of two numbers, for any number of batches. So ranks may have different
// numbers of batches: no batch waits for a batch of another rank.

#pragma once

#include <cstdint>

#include "libmini/data/loader.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/nn/module.hpp"

namespace mini::training {

/// The number of evaluated samples, and of correct predictions among them.
struct Accuracy {
    int64_t correct = 0;
    int64_t seen = 0;

    /// The fraction of correct predictions, 0 to 1; 0 if no sample was evaluated.
    double share() const {
        return seen == 0 ? 0.0 : static_cast<double>(correct) / static_cast<double>(seen);
    }
    bool operator==(const Accuracy&) const = default;
};

/// Iterates over `loader` once, in evaluation mode and without recording gradients.
/// Returns, summed over all ranks, the number of samples, and of samples whose target
/// class has the largest output. REQUIRES: targets are classes, outputs (N, classes).
/// Exact when each sample is in the loader of exactly one rank
/// (data::DistributedEvalSampler). Restores the model's training mode. Blocks until all
/// ranks have called it.
Accuracy count_correct(nn::Module& model, data::DataLoader& loader,
                       dist::ProcessGroup& group);

}  // namespace mini::training
