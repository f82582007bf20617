// The given part of partition_lengths: checks of the fractions, and the remainder.

#pragma once

#include <cstdint>
#include <vector>

namespace mini::data {

/// Throws UsageError, which names the fractions, unless all are positive and sum to at
/// most 1 + 1e-9 (nine times 1/9 is slightly more than 1).
void check_fractions(const std::vector<double>& sizes);

/// Adds the samples that rounding down has left over to `lengths` one by one, starting
/// with the first part, until all parts together have int((sizes[0] + sizes[1] + ... +
/// 1e-9) * n) samples, but at most n.
void assign_remainder_to(std::vector<int64_t>& lengths, const std::vector<double>& sizes,
                         int64_t n);

}  // namespace mini::data
