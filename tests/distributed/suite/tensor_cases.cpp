// The collectives that have one tensor for the blocks of all ranks: exact values, costs, in
// place and uneven.

#include <cstddef>
#include <cstdint>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/distributed/suite/cases.hpp"

namespace mini::dist::suite {
namespace {

constexpr int kOtherRank =
    99;  // its blocks fill tensors that a collective must overwrite

enum class Variant { kEqual, kInPlace, kUneven };

struct SingleTensor {
    Operation operation;
    DType dtype = DType::kFloat32;
    int64_t n = 0;
    Variant variant = Variant::kEqual;
    ReduceOp op = ReduceOp::kSum;

    // Returns the number of elements that rank `from` sends to rank `to`; also 0.
    int64_t size(int from, int to) const {
        return variant == Variant::kUneven ? n * ((from + 2 * to) % 3) : n;
    }
    Bytes block(int from, int to = 0) const {
        return share(dtype, size(from, to), op, from, to);
    }
};

// Returns the blocks 0 .. P-1, one after the other.
template <typename Block>
Bytes joined(int P, const Block& block) {
    Bytes all;
    for (int k = 0; k < P; ++k) {
        const Bytes next = block(k);
        all.insert(all.end(), next.begin(), next.end());
    }
    return all;
}

// Returns part `rank` of a tensor with P blocks of n elements.
Tensor own_part(const GuardedTensor& whole, const CaseContext& context, int64_t n) {
    return ops::narrow(whole.tensor(), 0, context.rank() * n, n);
}

void check_all_gather(const CaseContext& context, const SingleTensor& c) {
    const bool in_place = c.variant == Variant::kInPlace;
    const GuardedTensor input(c.dtype, c.block(context.rank()), Layout::kDense);
    const GuardedTensor output(
        c.dtype,
        joined(context.world_size(), [&](int r) { return c.block(kOtherRank, r); }),
        Layout::kDense);
    Tensor own = own_part(output, context, c.n);
    if (in_place) ops::copy_(own, input.tensor());
    either(context, &ProcessGroup::all_gather_into_tensor,
           &ProcessGroup::all_gather_into_tensor_async, output.tensor(),
           in_place ? own : input.tensor());
    const Bytes wanted = joined(context.world_size(), [&](int r) { return c.block(r); });
    check_equal(output.bytes(), wanted, c.dtype, "the output");
}

void check_reduce_scatter(const CaseContext& context, const SingleTensor& c) {
    const int P = context.world_size(), rank = context.rank();
    const auto own = [&](int r) { return c.block(rank, r); };
    const Bytes result = reduction(c.dtype, c.n, c.op, P, rank);
    const GuardedTensor input(c.dtype, joined(P, own), Layout::kDense);
    const GuardedTensor output(c.dtype, c.block(kOtherRank), Layout::kDense);
    const bool in_place = c.variant == Variant::kInPlace;
    const Tensor into = in_place ? own_part(input, context, c.n) : output.tensor();
    either(context, &ProcessGroup::reduce_scatter_tensor,
           &ProcessGroup::reduce_scatter_tensor_async, into, input.tensor(), c.op);
    if (!in_place) check_equal(output.bytes(), result, c.dtype, "the output");
    const Bytes wanted =
        joined(P, [&](int r) { return in_place && r == rank ? result : own(r); });
    check_equal(input.bytes(), wanted, c.dtype, "the input");
}

void check_all_to_all(const CaseContext& context, const SingleTensor& c) {
    const int P = context.world_size(), rank = context.rank();
    const auto to = [&](int r) { return c.block(rank, r); };
    const auto from = [&](int r) { return c.block(r, rank); };
    const auto empty = [&](int r) {
        return share(c.dtype, c.size(r, rank), c.op, kOtherRank);
    };
    const GuardedTensor input(c.dtype, joined(P, to), Layout::kDense);
    const GuardedTensor output(c.dtype, joined(P, empty), Layout::kDense);
    Shape received, sent;
    for (int r = 0; r < P && c.variant == Variant::kUneven; ++r) {
        received.push_back(c.size(r, rank));
        sent.push_back(c.size(rank, r));
    }
    either(context, &ProcessGroup::all_to_all_single,
           &ProcessGroup::all_to_all_single_async, output.tensor(), input.tensor(),
           received, sent);
    check_equal(output.bytes(), joined(P, from), c.dtype, "the output");
    check_equal(input.bytes(), joined(P, to), c.dtype, "the input");
}

Cost cost_of(const CaseContext& context, const SingleTensor& c) {
    Cost cost;
    for (int r = 0; r < context.world_size(); ++r) {
        if (r == context.rank()) continue;
        ++cost.messages;
        cost.bytes +=
            c.size(context.rank(), r) * static_cast<int64_t>(item_size(c.dtype));
    }
    return cost;
}

void check_single(const CaseContext& context, const SingleTensor& c, bool ours) {
    switch (c.operation) {
        case Operation::kAllGather: check_all_gather(context, c); break;
        case Operation::kReduceScatter: check_reduce_scatter(context, c); break;
        default: check_all_to_all(context, c);
    }
    if (ours) check_cost(context.group, cost_of(context, c));
}

const char* name_of(Variant variant) {
    switch (variant) {
        case Variant::kEqual: return " in one tensor";
        case Variant::kInPlace: return " in one tensor, in place";
        case Variant::kUneven: return " in one tensor, uneven";
    }
    return "";
}

}  // namespace

void add_single_tensors(std::vector<Case>& cases, const Scope& scope) {
    const auto add = [&cases, ours = scope.ours](const SingleTensor& c) {
        cases.push_back(
            {case_name(c.operation, c.dtype, c.n, Layout::kDense,
                       name_of(c.variant) + concat(", ", reduce_op_name(c.op))),
             [=](const CaseContext& context) { check_single(context, c, ours); }});
    };
    for (const DType dtype : kTypes)
        for (const int64_t n : kSizes)
            for (const Variant variant : {Variant::kEqual, Variant::kInPlace}) {
                add({Operation::kAllGather, dtype, n, variant});
                add({Operation::kReduceScatter, dtype, n, variant, ReduceOp::kSum});
                add({Operation::kReduceScatter, dtype, n, variant, ReduceOp::kMax});
            }
    for (const DType dtype : kTypes)
        for (const int64_t n : kSizes)
            for (const Variant variant : {Variant::kEqual, Variant::kUneven})
                add({Operation::kAllToAll, dtype, n, variant});
    add({Operation::kAllToAll, DType::kFloat32, kLarge, Variant::kUneven});
}

}  // namespace mini::dist::suite
