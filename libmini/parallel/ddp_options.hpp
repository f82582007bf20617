// The options of DistributedDataParallel.

#pragma once

#include <cstdint>
#include <memory>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::parallel {

/// The default size of the first bucket, in bytes.
constexpr int64_t kFirstBucketBytes = int64_t{1} << 20;

/// The arguments of `torch.nn.parallel.DistributedDataParallel` with PyTorch's names, and
/// some options that PyTorch does not have.
struct DDPOptions {
    /// The size limit of the first bucket, in bytes. It is small, so that communication
    /// starts early (PyTorch: `torch.distributed._DEFAULT_FIRST_BUCKET_BYTES`). A bucket
    /// is closed when its size reaches its limit.
    int64_t first_bucket_bytes = kFirstBucketBytes;

    /// The size limit of the other buckets, in MiB.
    double bucket_cap_mb = 25;

    /// The ranks that train together. Null means the default group, so a rank to which
    /// new_group returned null, because it is no member, must not wrap its module.
    std::shared_ptr<dist::ProcessGroup> process_group = nullptr;

    /// Broadcasts rank 0's buffers, such as running means, before each forward pass that
    /// records a graph, except after a forward pass within no_sync.
    bool broadcast_buffers = true;

    /// After each forward pass, searches for unused parameters (the output does not
    /// depend on them), and does not wait for their gradients. A parameter that no rank
    /// used keeps its old gradient. Costs a walk over the graph and one small all-reduce
    /// per iteration.
    bool find_unused_parameters = false;

    /// Promises that the graph is the same in every iteration: the first iteration shows
    /// which parameters are unused, or used several times, so no walk over the graph is
    /// needed. In the first iteration communication does not overlap with backward.
    bool static_graph = false;
};

/// The unit of bucket_cap_mb.
constexpr double kBytesPerMib = 1 << 20;

/// Converts bytes to MiB without rounding: `{.bucket_cap_mb = mib(1000)}` means 1000
/// bytes.
constexpr double mib(int64_t bytes) { return static_cast<double>(bytes) / kBytesPerMib; }

}  // namespace mini::parallel
