// Call: one operation that a program requests, with its tensors. collective_of() returns
// the Collective of a call: the properties that must be equal on all ranks.

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

    // The tensors that the operation writes and reads. An in-place operation has only
    // outputs.
    std::vector<Tensor> outputs = {};
    std::vector<Tensor> inputs = {};

    ReduceOp reduce_op = ReduceOp::kSum;
    Algorithm algorithm = Algorithm::kAuto;
    int root = -1;           // for broadcast, reduce, gather, scatter
    bool is_uneven = false;  // for all_to_all: the tensors may differ in shape
    int peer = -1;           // for send and recv
    uint64_t tag = 0;        // for send and recv
    std::optional<std::chrono::milliseconds> timeout =
        std::nullopt;  // the group's timeout

    /// Returns whether the operation is point-to-point: send or recv.
    bool is_point() const {
        return operation == Operation::kSend || operation == Operation::kRecv;
    }

    /// Returns one of the tensors; all have the same device and dtype. REQUIRES: the call
    /// has a tensor.
    const Tensor& any_tensor() const {
        return outputs.empty() ? inputs.front() : outputs.front();
    }
    bool has_tensors() const { return !outputs.empty() || !inputs.empty(); }
    bool is_on_gpu() const { return has_tensors() && any_tensor().device().is_cuda(); }
};

/// Returns the properties of `call` that must be equal on all ranks, without the sequence
/// number. Throws Error, naming the operation and the fault, if a tensor is undefined, if
/// the tensors are on several devices, if the number of tensors does not fit the world
/// size, if the op is kAvg and the dtype is an integer, if the root or the peer is
/// invalid, or if the tag is reserved. Throws ShapeError if the tensors differ in dtype,
/// or in shape (in an uneven call: if inputs[rank] and outputs[rank] differ in size).
/// Throws UsageError if outputs share memory with each other or with inputs, except in
/// place: all_gather and gather may have their input as outputs[rank], scatter and
/// reduce_scatter their output as inputs[rank].
Collective collective_of(const Call& call, int rank, int world_size);

/// Returns the size in bytes of one tensor of `call`; 0 if the call has no tensor.
size_t payload_bytes(const Call& call);

}  // namespace mini::dist
