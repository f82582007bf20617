// The registry of the all-reduce in shared memory: an extra offers it here
// (libmini/extras/fast). Without it, ranks of one host send messages, as those of several
// hosts do.

#pragma once

#include <cstddef>

#include "libmini/distributed/transport/reduce_op.hpp"

namespace mini::dist {

class GroupTransport;
struct Elements;

struct SharedAllReduce {
    /// The bytes that each pair of ranks shares for it, a multiple of 64.
    size_t pair_bytes = 0;

    /// Ranks of larger groups do not share these bytes.
    int max_ranks = 0;

    /// Same contract as ring_all_reduce. REQUIRES: GroupTransport::shared_with() returns
    /// `pair_bytes` bytes for every other rank.
    void (*run)(GroupTransport& transport, Elements data, ReduceOp op) = nullptr;
};

/// Returns the all-reduce of the process, which an extra sets in main, before the first
/// group; `run` is null if none was set.
inline SharedAllReduce& shared_all_reduce() {
    static SharedAllReduce registered;
    return registered;
}

/// Returns the bytes that each pair of `world_size` ranks shares: 0 if none was set.
inline size_t shared_bytes_per_pair(int world_size) {
    const SharedAllReduce& registered = shared_all_reduce();
    return world_size <= registered.max_ranks ? registered.pair_bytes : 0;
}

}  // namespace mini::dist
