// Collectives in which every rank gives and gets: all_gather, reduce_scatter, all_to_all,
// barrier.

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

    // Block `number` of rank `rank`.
    Bytes block(int rank, int number = 0) const {
        return share(dtype, n, op, rank, number);
    }
};

void check_cost_of(const Place& place, const Exchange& e) {
    if (!e.ours) return;
    const Load load{e.n, static_cast<int64_t>(item_size(e.dtype)), place.world_size(),
                    place.rank()};
    check_cost(place.group, collective_cost(e.operation, load));
}

std::vector<Laid> blocks(const Place& place, const Exchange& e, int owner) {
    std::vector<Laid> all;
    for (int k = 0; k < place.world_size(); ++k)
        all.emplace_back(e.dtype, e.block(owner, k), e.layout);
    return all;
}

void check_inputs(const Place& place, const Exchange& e, const std::vector<Laid>& all) {
    for (size_t k = 0; k < all.size(); ++k)
        check_equal(all[k].bytes(), e.block(place.rank(), static_cast<int>(k)), e.dtype,
                    concat("input ", k));
}

void all_gather(const Place& place, const Exchange& e) {
    const Laid input(e.dtype, e.block(place.rank()), e.layout);
    const auto outputs = blocks(place, e, /*owner=*/99);
    if (place.in_background)
        place.group.all_gather_async(tensors_of(outputs), input.tensor())->wait();
    else
        place.group.all_gather(tensors_of(outputs), input.tensor());
    check_equal(input.bytes(), e.block(place.rank()), e.dtype, "the input");
    for (size_t k = 0; k < outputs.size(); ++k)
        check_equal(outputs[k].bytes(), e.block(static_cast<int>(k)), e.dtype,
                    concat("output ", k));
    check_cost_of(place, e);
}

void reduce_scatter(const Place& place, const Exchange& e) {
    const Laid output(e.dtype, e.block(99), e.layout);
    const auto inputs = blocks(place, e, place.rank());
    if (place.in_background)
        place.group.reduce_scatter_async(output.tensor(), tensors_of(inputs), e.op)
            ->wait();
    else
        place.group.reduce_scatter(output.tensor(), tensors_of(inputs), e.op);
    check_inputs(place, e, inputs);
    check_equal(output.bytes(),
                reduction(e.dtype, e.n, e.op, place.world_size(), place.rank()), e.dtype,
                "the output");
    check_cost_of(place, e);
}

void all_to_all(const Place& place, const Exchange& e) {
    const auto inputs = blocks(place, e, place.rank());
    const auto outputs = blocks(place, e, /*owner=*/99);
    if (place.in_background)
        place.group.all_to_all_async(tensors_of(outputs), tensors_of(inputs))->wait();
    else
        place.group.all_to_all(tensors_of(outputs), tensors_of(inputs));
    check_inputs(place, e, inputs);
    for (size_t k = 0; k < outputs.size(); ++k)
        check_equal(outputs[k].bytes(), e.block(static_cast<int>(k), place.rank()),
                    e.dtype, concat("output ", k));
    check_cost_of(place, e);
}

void barrier(const Place& place, const Exchange& e) {
    if (place.in_background)
        place.group.barrier_async()->wait();
    else
        place.group.barrier();
    check_cost_of(place, e);
}

using ExchangeBody = void (*)(const Place&, const Exchange&);

void add(std::vector<Case>& cases, const Exchange& e, ExchangeBody body) {
    const std::string more = e.operation == Operation::kReduceScatter
                                 ? concat(" ", reduce_op_name(e.op))
                                 : std::string();
    cases.push_back({case_name(e.operation, e.dtype, e.n, e.layout, more),
                     [e, body](const Place& place) { body(place, e); }});
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
    for (int turn = 0; turn < 10; ++turn)
        add(cases,
            {Operation::kBarrier, DType::kFloat32, 0, Layout::kDense, ReduceOp::kSum,
             scope.ours},
            barrier);
}

}  // namespace mini::dist::suite
