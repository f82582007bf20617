// The registry of the all-reduce in shared memory: an extra offers it here
// (libmini/extras/fast). Without it, ranks of one host send messages, as those of several
// hosts do.

#pragma once

#include <cstddef>

#include "libmini/distributed/transport/reduce_op.hpp"

namespace mini {
class Tensor;
}

namespace mini::dist {

class GroupTransport;
struct Elements;

/// Up to this size in bytes latency dominates: the algorithm with the fewest rounds is the
/// fastest (choose_algorithm).
constexpr size_t kSmallBytes = 16 << 10;

struct SharedAllReduce {
    /// Larger groups do not use it.
    int max_ranks = 0;

    /// Same contract as ring_all_reduce, but does nothing and returns false, on all ranks,
    /// if the data of some rank are not in such memory. REQUIRES:
    /// GroupTransport::shares_memory_with() is true for every other rank.
    bool (*run)(GroupTransport& transport, Elements data, ReduceOp op) = nullptr;

    /// See share_memory().
    void (*share)(const Tensor& tensor) = nullptr;
};

/// Returns the all-reduce of the process, which an extra sets in main, before the first
/// group; `run` is null if none was set.
inline SharedAllReduce& shared_all_reduce() {
    static SharedAllReduce registered;
    return registered;
}

/// Moves the elements of `tensor`, and of all tensors that share its storage, to memory
/// where the registered all-reduce need not copy them (`Tensor.share_memory_`). No effect
/// if there is none, on a GPU, if it has at most kSmallBytes, and if the system has
/// no such memory left.
inline void share_memory(const Tensor& tensor) {
    if (shared_all_reduce().share != nullptr) shared_all_reduce().share(tensor);
}

}  // namespace mini::dist
