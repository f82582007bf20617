// Drawing categories by weight (`torch.multinomial` of float64 weights, as used by
// `torch.utils.data.WeightedRandomSampler`).
//
//     with replacement      lay the weights end to end, scaled to length 1; a uniform
//                           number points at one of them: 2 words per sample
//
//         u = 0.41   |--0--|-----1-----|------------2------------|
//                               ^
//
//     without               race the categories: category i arrives after a time of
//                           Exp(1) / weights[i], first come first drawn: 2 words a
//                           category (Efraimidis and Spirakis 2006)
//
// From PyTorch 2.0 on a single sample is raced for, with replacement or without
// (github.com/pytorch/pytorch/issues/114945); generator.version() chooses.
//
// The first way holds for all of 1.x and 2.x; the race from 1.8 on, for builds whose
// exponential_ is not MKL's: 2.7 and later on every machine, earlier ones but for x86
// wheels.

#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "libmini/random/random.hpp"

namespace mini {

/// `num_samples` categories 0 .. weights.size()-1, category i with a chance in proportion
/// to weights[i], independently (replacement) or at most once, in the order drawn. A
/// category of weight zero is never drawn. Costs O(log n) a sample with replacement,
/// O(n log num_samples) in all without.
///
/// Throws UsageError naming the weight when one is negative, infinite or NaN, when all
/// are zero or their sum is infinite, when num_samples is below 1, and without
/// replacement when fewer weights are positive than samples are wanted.
std::vector<int64_t> multinomial(std::span<const double> weights, int64_t num_samples,
                                 bool replacement, Generator& generator);

}  // namespace mini
