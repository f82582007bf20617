// Distributed evaluation: each rank counts the correct predictions for the batches of its
// own loader; at the end the counts, not the accuracies, are summed over the ranks.
//
//     n = 10, P = 3     rank 0   3 of 4 correct   0.75
//                       rank 1   3 of 3 correct   1.00     mean of accuracies   0.916..
//                       rank 2   3 of 3 correct   1.00     sum of counts        9 of 10
//
// Cost: one all-reduce of two int64, for any number of batches. Ranks may have
// different numbers of batches, because no batch waits for a batch of another rank.

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

    /// Returns the fraction of correct predictions, 0 to 1; 0 if no sample was evaluated.
    double share() const {
        return seen == 0 ? 0.0 : static_cast<double>(correct) / static_cast<double>(seen);
    }
    bool operator==(const Accuracy&) const = default;
};

/// Iterates over `loader` once, in evaluation mode and without recording gradients
/// (nn::EvaluationGuard), and then restores the model's training mode. Returns the number
/// of samples, and the number of samples whose target class has the largest output, both
/// summed over all ranks. The result is exact if each sample is in the loader of exactly
/// one rank (data::DistributedEvalSampler). Blocks until all ranks have called it.
/// REQUIRES: targets are classes (N), and outputs have shape (N, classes).
Accuracy count_correct(nn::Module& model, data::DataLoader& loader,
                       dist::ProcessGroup& group);

}  // namespace mini::training
