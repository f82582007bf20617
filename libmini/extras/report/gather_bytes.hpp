// Gathers byte strings of different lengths on rank 0.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::report {

/// Returns the bytes of every rank, by rank, on rank 0; an empty vector on other ranks.
/// Blocks until all ranks have called it. Cost: one all-gather of the lengths, one gather
/// of as many bytes per rank as the longest has.
std::vector<std::vector<uint8_t>> gather_bytes(dist::ProcessGroup& group,
                                               std::vector<uint8_t> mine);

}  // namespace mini::report
