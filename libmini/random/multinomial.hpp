// Draws categories by weight (`torch.multinomial` of float64 weights, as used by
// `torch.utils.data.WeightedRandomSampler`).
//
//     with replacement      place the weights end to end, scaled to length 1; a uniform
//                           number u selects one of them: 2 words per sample
//
//         u = 0.41   |--0--|-----1-----|------------2------------|
//                               ^
//
//     without replacement   a race: category i arrives after the time Exp(1) /
//                           weights[i], and categories are drawn in the order of arrival:
//                           2 words per category (Efraimidis and Spirakis 2006)
//
// A single sample is drawn by the race, with or without replacement, as since PyTorch 2.0
// (github.com/pytorch/pytorch/issues/114945). With replacement, several samples equal those
// of PyTorch 1.x and 2.x. The race gives the samples of PyTorch 1.8 and later if its
// exponential_ does not use MKL: of 2.7 and later on every machine, and of earlier versions
// except their x86 wheels.

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
