// Collectives with a root: broadcast and reduce down and up a tree, gather and scatter
// straight.

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

void check_cost_of(const Place& place, const Rooted& r) {
    if (!r.ours) return;
    const Load load{r.n, static_cast<int64_t>(item_size(r.dtype)), place.world_size(),
                    place.rank()};
    check_cost(place.group, collective_cost(r.operation, load, r.root));
}

void broadcast(const Place& place, const Rooted& r) {
    const Laid data(r.dtype, r.block(place.rank()), r.layout);
    if (place.in_background)
        place.group.broadcast_async(data.tensor(), r.root)->wait();
    else
        place.group.broadcast(data.tensor(), r.root);
    check_equal(data.bytes(), r.block(r.root), r.dtype, "what was broadcast");
    check_cost_of(place, r);
}

void reduce(const Place& place, const Rooted& r) {
    const Laid data(r.dtype, r.block(place.rank()), r.layout);
    if (place.in_background)
        place.group.reduce_async(data.tensor(), r.root, r.op)->wait();
    else
        place.group.reduce(data.tensor(), r.root, r.op);
    const Bytes result = data.bytes();
    if (place.rank() == r.root)
        check_equal(result, reduction(r.dtype, r.n, r.op, place.world_size()), r.dtype,
                    "the result");
    check_cost_of(place, r);
}

// One tensor for each rank, with rank `owner`'s numbers; on the root only.
std::vector<Laid> blocks(const Place& place, const Rooted& r, int owner) {
    std::vector<Laid> all;
    for (int k = 0; place.rank() == r.root && k < place.world_size(); ++k)
        all.emplace_back(r.dtype, r.block(owner, k), r.layout);
    return all;
}

void gather(const Place& place, const Rooted& r) {
    const Laid input(r.dtype, r.block(place.rank()), r.layout);
    const auto outputs = blocks(place, r, /*owner=*/99);
    if (place.in_background)
        place.group.gather_async(tensors_of(outputs), input.tensor(), r.root)->wait();
    else
        place.group.gather(tensors_of(outputs), input.tensor(), r.root);
    check_equal(input.bytes(), r.block(place.rank()), r.dtype, "the input");
    for (size_t k = 0; k < outputs.size(); ++k)
        check_equal(outputs[k].bytes(), r.block(static_cast<int>(k)), r.dtype,
                    concat("output ", k));
    check_cost_of(place, r);
}

void scatter(const Place& place, const Rooted& r) {
    const Laid output(r.dtype, r.block(99), r.layout);
    const auto inputs = blocks(place, r, r.root);
    if (place.in_background)
        place.group.scatter_async(output.tensor(), tensors_of(inputs), r.root)->wait();
    else
        place.group.scatter(output.tensor(), tensors_of(inputs), r.root);
    check_equal(output.bytes(), r.block(r.root, place.rank()), r.dtype, "the output");
    for (size_t k = 0; k < inputs.size(); ++k)
        check_equal(inputs[k].bytes(), r.block(r.root, static_cast<int>(k)), r.dtype,
                    concat("input ", k));
    check_cost_of(place, r);
}

using RootedBody = void (*)(const Place&, const Rooted&);

void add(std::vector<Case>& cases, const Rooted& r, RootedBody body) {
    std::string more = concat(", root ", r.root);
    if (r.operation == Operation::kReduce) more += concat(" ", reduce_op_name(r.op));
    cases.push_back({case_name(r.operation, r.dtype, r.n, r.layout, more),
                     [r, body](const Place& place) { body(place, r); }});
}

// All types, sizes and roots, dense and not.
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
