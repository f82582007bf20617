// Collectives with a root: broadcast and reduce use a tree; in gather and scatter each
// rank exchanges a message with the root directly.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/distributed/suite/cases.hpp"

namespace mini::dist::suite {
namespace {

struct Rooted {
    Operation operation;
    DType dtype;
    int64_t n;
    Layout layout;
    int root;
    ReduceOp op = ReduceOp::kSum;
    bool ours = true;

    Bytes block(int rank, int number = 0) const {
        return share(dtype, n, op, rank, number);
    }
};

void check_cost_of(const CaseContext& context, const Rooted& r) {
    if (!r.ours) return;
    const Load load{r.n, static_cast<int64_t>(item_size(r.dtype)), context.world_size(),
                    context.rank()};
    check_cost(context.group, collective_cost(r.operation, load, r.root));
}

void broadcast(const CaseContext& context, const Rooted& r) {
    const GuardedTensor data(r.dtype, r.block(context.rank()), r.layout);
    if (context.in_background)
        context.group.broadcast_async(data.tensor(), r.root)->wait();
    else
        context.group.broadcast(data.tensor(), r.root);
    check_equal(data.bytes(), r.block(r.root), r.dtype, "the broadcast tensor");
    check_cost_of(context, r);
}

void reduce(const CaseContext& context, const Rooted& r) {
    const GuardedTensor data(r.dtype, r.block(context.rank()), r.layout);
    if (context.in_background)
        context.group.reduce_async(data.tensor(), r.root, r.op)->wait();
    else
        context.group.reduce(data.tensor(), r.root, r.op);
    const Bytes result = data.bytes();
    if (context.rank() == r.root)
        check_equal(result, reduction(r.dtype, r.n, r.op, context.world_size()), r.dtype,
                    "the result");
    check_cost_of(context, r);
}

// Returns, on the root, one tensor per rank with the values of rank `owner`; on other
// ranks, an empty vector.
std::vector<GuardedTensor> blocks(const CaseContext& context, const Rooted& r,
                                  int owner) {
    std::vector<GuardedTensor> all;
    for (int k = 0; context.rank() == r.root && k < context.world_size(); ++k)
        all.emplace_back(r.dtype, r.block(owner, k), r.layout);
    return all;
}

void gather(const CaseContext& context, const Rooted& r) {
    const GuardedTensor input(r.dtype, r.block(context.rank()), r.layout);
    const auto outputs = blocks(context, r, /*owner=*/99);
    if (context.in_background)
        context.group.gather_async(tensors_of(outputs), input.tensor(), r.root)->wait();
    else
        context.group.gather(tensors_of(outputs), input.tensor(), r.root);
    check_equal(input.bytes(), r.block(context.rank()), r.dtype, "the input");
    for (size_t k = 0; k < outputs.size(); ++k)
        check_equal(outputs[k].bytes(), r.block(static_cast<int>(k)), r.dtype,
                    concat("output ", k));
    check_cost_of(context, r);
}

void scatter(const CaseContext& context, const Rooted& r) {
    const GuardedTensor output(r.dtype, r.block(99), r.layout);
    const auto inputs = blocks(context, r, r.root);
    if (context.in_background)
        context.group.scatter_async(output.tensor(), tensors_of(inputs), r.root)->wait();
    else
        context.group.scatter(output.tensor(), tensors_of(inputs), r.root);
    check_equal(output.bytes(), r.block(r.root, context.rank()), r.dtype, "the output");
    for (size_t k = 0; k < inputs.size(); ++k)
        check_equal(inputs[k].bytes(), r.block(r.root, static_cast<int>(k)), r.dtype,
                    concat("input ", k));
    check_cost_of(context, r);
}

using RootedBody = void (*)(const CaseContext&, const Rooted&);

void add(std::vector<Case>& cases, const Rooted& r, RootedBody body) {
    std::string more = concat(", root ", r.root);
    if (r.operation == Operation::kReduce) more += concat(" ", reduce_op_name(r.op));
    cases.push_back({case_name(r.operation, r.dtype, r.n, r.layout, more),
                     [r, body](const CaseContext& context) { body(context, r); }});
}

// Adds cases for all dtypes, sizes and roots, with dense and strided tensors.
void add_rooted(std::vector<Case>& cases, const Scope& scope, Operation operation,
                RootedBody body) {
    for (const int root : roots(scope.world_size)) {
        for (const DType dtype : kTypes)
            for (const int64_t n : kSizes)
                for (const Layout layout : {Layout::kDense, Layout::kEveryOther})
                    add(cases,
                        {operation, dtype, n, layout, root, ReduceOp::kSum, scope.ours},
                        body);
        add(cases,
            {operation, DType::kFloat32, kLarge, Layout::kDense, root, ReduceOp::kSum,
             scope.ours},
            body);
    }
}

}  // namespace

void add_broadcast_and_reduce(std::vector<Case>& cases, const Scope& scope) {
    add_rooted(cases, scope, Operation::kBroadcast, broadcast);
    add_rooted(cases, scope, Operation::kReduce, reduce);
    for (const ReduceOp op : kReduceOps)
        for (const DType dtype : kTypes)
            for (const int root : roots(scope.world_size))
                if (is_float(dtype) || op != ReduceOp::kAvg)
                    add(cases,
                        {Operation::kReduce, dtype, 1000, Layout::kTransposed, root, op,
                         scope.ours},
                        reduce);
}

void add_gather_and_scatter(std::vector<Case>& cases, const Scope& scope) {
    add_rooted(cases, scope, Operation::kGather, gather);
    add_rooted(cases, scope, Operation::kScatter, scatter);
}

}  // namespace mini::dist::suite
