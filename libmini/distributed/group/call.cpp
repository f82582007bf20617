#include "libmini/distributed/group/call.hpp"

#include <cstdint>

#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/tags.hpp"
#include "libmini/tensor/overlap.hpp"

namespace mini::dist {
namespace {

bool has_root(Operation operation) {
    return operation == Operation::kBroadcast || operation == Operation::kReduce ||
           operation == Operation::kGather || operation == Operation::kScatter;
}

bool reduces(Operation operation) {
    return operation == Operation::kAllReduce || operation == Operation::kReduce ||
           operation == Operation::kReduceScatter;
}

// The numbers of outputs and inputs that an operation has on one rank.
struct Counts {
    size_t outputs, inputs;
};

Counts expected_counts(const Call& call, int rank, int world_size) {
    const auto P = static_cast<size_t>(world_size);
    const bool is_root = call.root == rank;
    switch (call.operation) {
        case Operation::kAllReduce:
        case Operation::kBroadcast:
        case Operation::kReduce:
        case Operation::kRecv: return {1, 0};
        case Operation::kSend: return {0, 1};
        case Operation::kAllGather: return {P, 1};
        case Operation::kGather: return {is_root ? P : 0, 1};
        case Operation::kScatter: return {1, is_root ? P : 0};
        case Operation::kReduceScatter: return {1, P};
        case Operation::kAllToAll: return {P, P};
        case Operation::kBarrier: break;
    }
    return {0, 0};
}

void check_tensor(const char* name, const Tensor& tensor, const Tensor& first,
                  bool is_uneven) {
    MINI_CHECK(tensor.defined(), name, ": the tensor is undefined");
    MINI_CHECK(tensor.device() == first.device(), name, ": one tensor is on ",
               tensor.device(), " but another on ", first.device(),
               "; all must be on one device");
    const bool fits = is_uneven || tensor.shape() == first.shape();
    check_shape(fits && tensor.dtype() == first.dtype(), name, ": one tensor is ",
                tensor.shape(), " of ", tensor.dtype(), " but another is ", first.shape(),
                " of ", first.dtype());
}

// Throws ShapeError unless a rank sends itself as many elements as it expects. What it
// expects of other ranks is checked when their messages arrive.
void check_own_part(const Call& call, const char* name, size_t rank) {
    check_shape(call.inputs[rank].numel() == call.outputs[rank].numel(), name, ": rank ",
                rank, " sends itself ", call.inputs[rank].shape(), ", but expects ",
                call.outputs[rank].shape());
}

bool overlap(const Tensor& a, const Tensor& b) {
    const bool are_copied = !a.is_contiguous() || !b.is_contiguous();
    return !are_copied && a.raw_data() < b.raw_data() + b.bytes() &&
           b.raw_data() < a.raw_data() + a.bytes();
}

// Returns whether an input may be an output: NCCL's in-place convention.
bool is_in_place(const Call& call, size_t output, size_t input, int rank) {
    const auto mine = static_cast<size_t>(rank);
    switch (call.operation) {
        case Operation::kAllGather:
        case Operation::kGather: return output == mine;
        case Operation::kScatter:
        case Operation::kReduceScatter: return input == mine;
        default: return false;
    }
}

// Throws UsageError if an output shares memory with another output or with an input, and
// Error if two elements of an output have one address.
void check_overlaps(const Call& call, const char* name, int rank) {
    for (size_t i = 0; i < call.outputs.size(); ++i) {
        const Tensor& output = call.outputs[i];
        check_no_internal_overlap(name, output);
        for (size_t k = i + 1; k < call.outputs.size(); ++k)
            if (overlap(output, call.outputs[k]))
                throw UsageError(name, ": outputs ", i, " and ", k, " on rank ", rank,
                                 " share memory; pass separate tensors");
        for (size_t k = 0; k < call.inputs.size(); ++k) {
            const Tensor& input = call.inputs[k];
            const bool is_same =
                output.raw_data() == input.raw_data() && is_in_place(call, i, k, rank);
            if (!is_same && overlap(output, input))
                throw UsageError(name, ": output ", i, " and input ", k, " on rank ",
                                 rank, " share memory; pass a clone of the input");
        }
    }
}

void check_ranks(const Call& call, const char* name, int rank, int world_size) {
    MINI_CHECK(!has_root(call.operation) || (call.root >= 0 && call.root < world_size),
               name, ": root is ", call.root, " but the world size is ", world_size);
    if (!call.is_point()) return;
    MINI_CHECK(call.peer != rank, name, ": rank ", rank, " cannot be its own peer");
    const bool any_source = call.peer == -1 && call.operation == Operation::kRecv;
    MINI_CHECK(any_source || (call.peer >= 0 && call.peer < world_size), name,
               ": the peer is ", call.peer, " but the world size is ", world_size);
    MINI_CHECK(is_group_tag(call.tag), name, ": the tag is ", call.tag,
               "; tags from 2^63 on are reserved, choose a smaller one");
}

}  // namespace

Collective collective_of(const Call& call, int rank, int world_size) {
    const char* const name = operation_name(call.operation);
    check_ranks(call, name, rank, world_size);

    // Check the numbers of tensors, which depend on the world size and on the root.
    const Counts expected = expected_counts(call, rank, world_size);
    MINI_CHECK(call.outputs.size() == expected.outputs, name, ": ", call.outputs.size(),
               " outputs on rank ", rank, " of ", world_size, "; there must be ",
               expected.outputs);
    MINI_CHECK(call.inputs.size() == expected.inputs, name, ": ", call.inputs.size(),
               " inputs on rank ", rank, " of ", world_size, "; there must be ",
               expected.inputs);

    Collective collective{
        .operation = call.operation, .algorithm = call.algorithm, .root = call.root};
    if (!call.has_tensors()) return collective;
    const Tensor& first = call.any_tensor();
    MINI_CHECK(first.defined(), name, ": the tensor is undefined");
    for (const auto* tensors : {&call.outputs, &call.inputs})
        for (const Tensor& tensor : *tensors)
            check_tensor(name, tensor, first, call.is_uneven);
    if (call.is_uneven) check_own_part(call, name, static_cast<size_t>(rank));
    check_overlaps(call, name, rank);

    MINI_CHECK(!reduces(call.operation) || call.reduce_op != ReduceOp::kAvg ||
                   is_floating_point(first.dtype()),
               name, ": kAvg needs floating-point numbers, but the tensor is ",
               first.dtype());
    collective.dtype = first.dtype();
    collective.count =
        call.is_uneven ? kUnevenCount : static_cast<uint64_t>(first.numel());
    if (reduces(call.operation)) collective.reduce_op = call.reduce_op;
    return collective;
}

size_t payload_bytes(const Call& call) {
    return call.has_tensors() ? call.any_tensor().bytes() : 0;
}

}  // namespace mini::dist
