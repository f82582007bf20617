// Draws categories by weight (`torch.multinomial` of float64 weights, as used by
// `torch.utils.data.WeightedRandomSampler`).
//
//     with replacement      place the weights end to end, and scale them so that the last
//                           ends at exactly 1; each sample draws u = uniform_double(),
//                           which selects the first positive weight whose end is >= u
//
//         u = 0.41   |--0--|-----1-----|------------2------------|
//                               ^
//
//     without replacement   a race: each category i in order, even one of weight zero,
//                           draws t = exponential_double(), its speed is weights[i] / t,
//                           and the fastest are drawn, the fastest first; of two equal
//                           speeds the smaller index (Efraimidis and Spirakis 2006)
//
// A single sample is drawn by the race even with replacement, as since PyTorch 2.0 (its
// issue 114945). Samples with replacement are those of PyTorch 1.x and 2.x; those of a race
// are PyTorch's since 1.8, except for x86 wheels before 2.7, whose exponential_ uses MKL.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libmini/random/random.hpp"

namespace mini {

/// Returns `num_samples` categories from 0 .. weights.size()-1 in the order drawn. The
/// probability of category i is proportional to weights[i]. With replacement the draws
/// are independent; without replacement a category is drawn at most once. A category of
/// weight zero is never drawn. Costs O(log n) per sample with replacement, O(n log
/// num_samples) for the whole call without replacement.
///
/// Throws UsageError if a weight is negative, infinite or NaN (the message names it), if
/// all weights are zero or their sum is infinite, if num_samples is below 1, or, without
/// replacement, if num_samples exceeds the number of positive weights.
std::vector<int64_t> multinomial(std::span<const double> weights, int64_t num_samples,
                                 bool replacement, Generator& generator);

/// Throws the same UsageError as multinomial for these arguments; draws no numbers.
void check_multinomial(std::span<const double> weights, int64_t num_samples,
                       bool replacement);

}  // namespace mini
