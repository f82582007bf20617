// The options of DistributedDataParallel.

#pragma once

#include <cstdint>
#include <memory>

#include "libmini/distributed/group/process_group.hpp"

namespace mini::parallel {

/// The size of the first bucket unless options say otherwise.
constexpr int64_t kFirstBucketBytes = int64_t{1} << 20;

/// The arguments of `torch.nn.parallel.DistributedDataParallel` by PyTorch's names, and some
/// of our own.
struct DDPOptions {
    /// Size of the first bucket in bytes, small so that communication starts early
    /// (`torch.distributed._DEFAULT_FIRST_BUCKET_BYTES`), and of the others in MiB. A bucket
    /// is closed when it holds as much or more.
    int64_t first_bucket_bytes = kFirstBucketBytes;
    double bucket_cap_mb = 25;

    /// The default group when null.
    std::shared_ptr<dist::ProcessGroup> process_group = nullptr;

    /// Sends rank 0's buffers, like running means, to all before each forward pass.
    bool broadcast_buffers = true;

    /// Looks, after each forward pass, for parameters that had no part in its result, and
    /// does not wait for their gradients. A parameter that no rank used keeps the
    /// gradient it had. Costs a walk over the graph and one small all-reduce.
    bool find_unused_parameters = false;

    /// The graph is the same in every iteration: the first one shows which parameters are
    /// unused, or used several times, and the walk is saved. In the first iteration
    /// nothing overlaps.
    bool static_graph = false;

    /// Looks for NaN and infinity in every gradient; what one rank finds, backward()
    /// throws on all. Costs a pass over the gradients and a small all-gather.
    bool check_gradients = false;

    /// PyTorch's order of events: in the first iteration one bucket holds all gradients,
    /// so nothing overlaps, if buckets will be rebuilt.
    bool torch_first_iteration = false;
};

/// Bytes of a MiB.
constexpr double kBytesPerMib = 1 << 20;

/// A number of bytes in MiB, exactly: for buckets of some bytes.
constexpr double mib(int64_t bytes) { return static_cast<double>(bytes) / kBytesPerMib; }

}  // namespace mini::parallel
