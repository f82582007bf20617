// Broadcasts many tensors in few messages: copies the tensors into flat buffers, each of
// one dtype, instead of sending hundreds of small messages.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/distributed/group/process_group.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::parallel {

/// PyTorch's chunk size. A chunk is complete when it reaches this size, so its last
/// tensor can make the flat buffer larger.
constexpr int64_t kCoalescedBytes = int64_t{250} << 20;

/// Copies rank `root`'s values of `tensors` to every rank; blocks until the values have
/// arrived (`torch.distributed._broadcast_coalesced`). REQUIRES: the same number of
/// tensors, with the same shapes and dtypes, in the same order on all ranks. Throws
/// UsageError when `chunk_bytes` is below 1, and the errors of ProcessGroup::broadcast.
void broadcast_coalesced(dist::ProcessGroup& group, const std::vector<Tensor>& tensors,
                         int root, int64_t chunk_bytes = kCoalescedBytes);

/// Returns one view of `flat` for each of `tensors`, in their shapes, one after the other.
std::vector<Tensor> views_of(const Tensor& flat, const std::vector<Tensor>& tensors);

}  // namespace mini::parallel
