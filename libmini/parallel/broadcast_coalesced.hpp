// Broadcasting many tensors as few: what would be hundreds of small messages travels in
// flat buffers, one dtype each.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// PyTorch's chunk: no flat buffer is larger, unless one tensor alone is.
constexpr int64_t kCoalescedBytes = int64_t{250} << 20;

/// Leaves rank `root`'s numbers in `tensors` on every rank; blocks until they are there
/// (`torch.distributed._broadcast_coalesced`). REQUIRES: as many tensors, of the same
/// shapes and dtypes, in the same order on all ranks. Throws what
/// ProcessGroup::broadcast throws, UsageError when `chunk_bytes` is below 1.
void broadcast_coalesced(dist::ProcessGroup& group, const std::vector<Tensor>& tensors,
                         int root, int64_t chunk_bytes = kCoalescedBytes);

}  // namespace mini::parallel
