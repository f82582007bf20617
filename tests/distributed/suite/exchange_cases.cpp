// Collectives in which every rank sends and receives: all_gather, reduce_scatter,
// all_to_all and barrier.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/distributed/suite/cases.hpp"

namespace mini::dist::suite {
namespace {

struct Exchange {
    Operation operation;
    DType dtype;
    int64_t n;
    Layout layout;
    ReduceOp op = ReduceOp::kSum;
    bool ours = true;

    // Returns block `number` of rank `rank`.
    Bytes block(int rank, int number = 0) const {
        return share(dtype, n, op, rank, number);
    }
};

void check_cost_of(const CaseContext& context, const Exchange& e) {
    if (!e.ours) return;
    const Load load{e.n, static_cast<int64_t>(item_size(e.dtype)), context.world_size(),
                    context.rank()};
    check_cost(context.group, collective_cost(e.operation, load));
}

std::vector<GuardedTensor> blocks(const CaseContext& context, const Exchange& e,
                                  int owner) {
    std::vector<GuardedTensor> all;
    for (int k = 0; k < context.world_size(); ++k)
        all.emplace_back(e.dtype, e.block(owner, k), e.layout);
    return all;
}

void check_inputs(const CaseContext& context, const Exchange& e,
                  const std::vector<GuardedTensor>& all) {
    for (size_t k = 0; k < all.size(); ++k)
        check_equal(all[k].bytes(), e.block(context.rank(), static_cast<int>(k)), e.dtype,
                    concat("input ", k));
}

void all_gather(const CaseContext& context, const Exchange& e) {
    const GuardedTensor input(e.dtype, e.block(context.rank()), e.layout);
    const auto outputs = blocks(context, e, /*owner=*/99);
    if (context.in_background)
        context.group.all_gather_async(tensors_of(outputs), input.tensor())->wait();
    else
        context.group.all_gather(tensors_of(outputs), input.tensor());
    check_equal(input.bytes(), e.block(context.rank()), e.dtype, "the input");
    for (size_t k = 0; k < outputs.size(); ++k)
        check_equal(outputs[k].bytes(), e.block(static_cast<int>(k)), e.dtype,
                    concat("output ", k));
    check_cost_of(context, e);
}

void reduce_scatter(const CaseContext& context, const Exchange& e) {
    const GuardedTensor output(e.dtype, e.block(99), e.layout);
    const auto inputs = blocks(context, e, context.rank());
    if (context.in_background)
        context.group.reduce_scatter_async(output.tensor(), tensors_of(inputs), e.op)
            ->wait();
    else
        context.group.reduce_scatter(output.tensor(), tensors_of(inputs), e.op);
    check_inputs(context, e, inputs);
    check_equal(output.bytes(),
                reduction(e.dtype, e.n, e.op, context.world_size(), context.rank()),
                e.dtype, "the output");
    check_cost_of(context, e);
}

void all_to_all(const CaseContext& context, const Exchange& e) {
    const auto inputs = blocks(context, e, context.rank());
    const auto outputs = blocks(context, e, /*owner=*/99);
    if (context.in_background)
        context.group.all_to_all_async(tensors_of(outputs), tensors_of(inputs))->wait();
    else
        context.group.all_to_all(tensors_of(outputs), tensors_of(inputs));
    check_inputs(context, e, inputs);
    for (size_t k = 0; k < outputs.size(); ++k)
        check_equal(outputs[k].bytes(), e.block(static_cast<int>(k), context.rank()),
                    e.dtype, concat("output ", k));
    check_cost_of(context, e);
}

void barrier(const CaseContext& context, const Exchange& e) {
    if (context.in_background)
        context.group.barrier_async()->wait();
    else
        context.group.barrier();
    check_cost_of(context, e);
}

using ExchangeBody = void (*)(const CaseContext&, const Exchange&);

void add(std::vector<Case>& cases, const Exchange& e, ExchangeBody body) {
    const std::string more = e.operation == Operation::kReduceScatter
                                 ? concat(" ", reduce_op_name(e.op))
                                 : std::string();
    cases.push_back({case_name(e.operation, e.dtype, e.n, e.layout, more),
                     [e, body](const CaseContext& context) { body(context, e); }});
}

void add_exchange(std::vector<Case>& cases, const Scope& scope, Operation operation,
                  ExchangeBody body) {
    for (const DType dtype : kTypes)
        for (const int64_t n : kSizes)
            for (const Layout layout : {Layout::kDense, Layout::kEveryOther})
                add(cases, {operation, dtype, n, layout, ReduceOp::kSum, scope.ours},
                    body);
    add(cases,
        {operation, DType::kFloat32, kLarge, Layout::kDense, ReduceOp::kSum, scope.ours},
        body);
}

}  // namespace

void add_exchanges(std::vector<Case>& cases, const Scope& scope) {
    add_exchange(cases, scope, Operation::kAllGather, all_gather);
    add_exchange(cases, scope, Operation::kReduceScatter, reduce_scatter);
    add_exchange(cases, scope, Operation::kAllToAll, all_to_all);
    for (const ReduceOp op : kReduceOps)
        for (const DType dtype : kTypes)
            for (const int64_t n : {7, 1000})
                if (is_float(dtype) || op != ReduceOp::kAvg)
                    add(cases,
                        {Operation::kReduceScatter, dtype, n, Layout::kTransposed, op,
                         scope.ours},
                        reduce_scatter);
    for (int round = 0; round < 10; ++round)
        add(cases,
            {Operation::kBarrier, DType::kFloat32, 0, Layout::kDense, ReduceOp::kSum,
             scope.ours},
            barrier);
}

}  // namespace mini::dist::suite
