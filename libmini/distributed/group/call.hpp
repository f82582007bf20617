// Call: one operation as it was asked for, with its tensors. And the Collective that it
// is: what all ranks must have in common.

#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <vector>

#include "libmini/distributed/transport/collective.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::dist {

struct Call {
    Operation operation = Operation::kBarrier;

    // What an operation reads and writes. One that works in place has outputs only.
    std::vector<Tensor> outputs = {};
    std::vector<Tensor> inputs = {};

    ReduceOp reduce_op = ReduceOp::kSum;
    Algorithm algorithm = Algorithm::kAuto;
    int root = -1;     // of broadcast, reduce, gather, scatter
    int peer = -1;     // of send and recv
    uint64_t tag = 0;  // of send and recv
    std::optional<std::chrono::milliseconds> timeout = std::nullopt;  // the group's

    /// Whether the caller waits for it at once: then it may run on the caller's thread.
    bool blocking = false;

    /// Whether it is a message from point to point.
    bool is_point() const {
        return operation == Operation::kSend || operation == Operation::kRecv;
    }

    /// One of its tensors, which are all of one device and dtype. REQUIRES: it has any.
    const Tensor& any_tensor() const {
        return outputs.empty() ? inputs.front() : outputs.front();
    }
};

/// What all ranks must have in common, but for the sequence number. Throws Error, or
/// ShapeError, naming the operation and what is wrong, when the tensors do not fit the
/// operation: undefined, on several devices, unequal among one another, too many or few for
/// the world; when kAvg meets integers; when root or peer is no rank; for a reserved tag.
Collective collective_of(const Call& call, int rank, int world_size);

/// Bytes of one rank's tensor.
size_t payload_bytes(const Call& call);

}  // namespace mini::dist
