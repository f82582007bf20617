// All-reduce: exact values, costs, and bitwise identical results on all ranks.

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/distributed/suite/cases.hpp"

namespace mini::dist::suite {
namespace {

struct Reduction {
    DType dtype;
    int64_t n;
    ReduceOp op;
    Algorithm algorithm;
    Layout layout = Layout::kDense;
};

void call(const CaseContext& context, const Tensor& tensor, const Reduction& r) {
    if (context.in_background)
        context.group.all_reduce_async(tensor, r.op, r.algorithm)->wait();
    else
        context.group.all_reduce(tensor, r.op, r.algorithm);
}

void check_algorithm(const CaseContext& context, const Reduction& r) {
    const Algorithm ran = parse_algorithm(last_spent(context.group).algorithm);
    MINI_CHECK(ran == r.algorithm || r.algorithm == Algorithm::kAuto, "all_reduce ran ",
               algorithm_name(ran));
    const auto each = static_cast<int64_t>(item_size(r.dtype));
    const Load load{r.n, each, context.world_size(), context.rank()};
    check_cost(context.group, all_reduce_cost(ran, load));
}

void check_sum(const CaseContext& context, const Reduction& r, bool ours) {
    const GuardedTensor data(r.dtype, share(r.dtype, r.n, r.op, context.rank()),
                             r.layout);
    call(context, data.tensor(), r);
    check_equal(data.bytes(), reduction(r.dtype, r.n, r.op, context.world_size()),
                r.dtype, "the result");
    if (ours) check_algorithm(context, r);
}

void check_rejected(const CaseContext& context, const Reduction& r) {
    const Tensor tensor = Tensor::ones({r.n}, r.dtype);
    bool rejected = false;
    try {
        call(context, tensor, r);
    } catch (const Error&) {
        rejected = true;
    }
    MINI_CHECK(rejected, "an average of integers was not rejected");
}

std::string name_of(const Reduction& r, const std::string& more = "") {
    return case_name(
        Operation::kAllReduce, r.dtype, r.n, r.layout,
        concat(" ", reduce_op_name(r.op), ", ", algorithm_name(r.algorithm), more));
}

// Compares the results of all ranks bitwise. all_gather distributes the results, because
// it only copies bytes.
void check_same_bits(const CaseContext& context, const Reduction& r) {
    const GuardedTensor data(r.dtype, difficult(r.dtype, r.n, context.rank()),
                             Layout::kDense);
    call(context, data.tensor(), r);
    std::vector<Tensor> all;
    for (int rank = 0; rank < context.world_size(); ++rank)
        all.push_back(Tensor::empty({r.n}, r.dtype));
    context.group.all_gather(all, data.tensor());
    const Bytes mine = data.bytes();
    for (size_t rank = 0; rank < all.size(); ++rank) {
        const Bytes theirs(all[rank].raw_data(), all[rank].raw_data() + mine.size());
        check_equal(theirs, mine, r.dtype, concat("the result of rank ", rank));
    }
}

}  // namespace

void add_all_reduce(std::vector<Case>& cases, const Scope& scope) {
    const bool ours = scope.ours;
    const auto add = [&](Reduction r) {
        if (r.op == ReduceOp::kAvg && !is_float(r.dtype)) {
            cases.push_back(
                {name_of(r), [r](const CaseContext& p) { check_rejected(p, r); }});
        } else {
            cases.push_back(
                {name_of(r), [r, ours](const CaseContext& p) { check_sum(p, r, ours); }});
        }
    };
    for (const Algorithm algorithm : all_reduce_algorithms(scope)) {
        for (const DType dtype : kTypes) {
            for (const ReduceOp op : kReduceOps)
                for (const int64_t n : kSizes) add({dtype, n, op, algorithm});
            add({dtype, 7, ReduceOp::kSum, algorithm, Layout::kEveryOther});
            add({dtype, 1000, ReduceOp::kMax, algorithm, Layout::kTransposed});
        }
        add({DType::kFloat32, kLarge, ReduceOp::kSum, algorithm});
        add({DType::kUInt8, kLarge, ReduceOp::kProduct, algorithm});
    }
    for (const DType dtype : kTypes)
        add({dtype, kLarge, ReduceOp::kMin, Algorithm::kAuto, Layout::kEveryOther});
}

void add_same_bits(std::vector<Case>& cases, const Scope& scope) {
    for (const Algorithm algorithm : all_reduce_algorithms(scope))
        for (const DType dtype : kTypes)
            for (const ReduceOp op : kReduceOps)
                for (const int64_t n : {7, 1000, 20'011}) {
                    const Reduction r{dtype, n, op, algorithm};
                    if (!is_float(dtype)) continue;
                    cases.push_back(
                        {name_of(r, ", bitwise identical"),
                         [r](const CaseContext& p) { check_same_bits(p, r); }});
                }
}

}  // namespace mini::dist::suite
