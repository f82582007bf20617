// Averages of 16-bit floats whose sum exceeds the range of the dtype.

#include <cstdint>
#include <vector>

#include "libmini/core/error.hpp"
#include "tests/distributed/suite/cases.hpp"

namespace mini::dist::suite {
namespace {

// Returns 1.5 times the largest power of two of the dtype. The sum of two such numbers is
// infinite. If the numbers are first divided by a power of two, sums of up to 7 are
// exact.
double large(DType dtype) { return dtype == DType::kFloat16 ? 0x1.8p15 : 0x1.8p127; }

struct Average {
    Operation operation;
    DType dtype;
    int64_t n;
    Algorithm algorithm = Algorithm::kAuto;

    Bytes numbers() const {
        return repeat(dtype, n, [this](int64_t i) {
            return i % 2 == 0 ? large(dtype) : -large(dtype);
        });
    }
};

void check_all_reduce(const CaseContext& context, const Average& a) {
    const GuardedTensor data(a.dtype, a.numbers(), Layout::kDense);
    context.group.all_reduce(data.tensor(), ReduceOp::kAvg, a.algorithm);
    check_equal(data.bytes(), a.numbers(), a.dtype, "the average");
}

void check_reduce(const CaseContext& context, const Average& a) {
    const int root = context.world_size() - 1;
    const GuardedTensor data(a.dtype, a.numbers(), Layout::kDense);
    context.group.reduce(data.tensor(), root, ReduceOp::kAvg);
    if (context.rank() == root)
        check_equal(data.bytes(), a.numbers(), a.dtype, "the average");
}

void check_reduce_scatter(const CaseContext& context, const Average& a) {
    const GuardedTensor output(a.dtype, Bytes(a.numbers().size()), Layout::kDense);
    std::vector<GuardedTensor> inputs;
    std::vector<Tensor> tensors;
    for (int rank = 0; rank < context.world_size(); ++rank) {
        inputs.emplace_back(a.dtype, a.numbers(), Layout::kDense);
        tensors.push_back(inputs.back().tensor());
    }
    context.group.reduce_scatter(output.tensor(), tensors, ReduceOp::kAvg);
    check_equal(output.bytes(), a.numbers(), a.dtype, "the average");
    for (const GuardedTensor& input : inputs)
        check_equal(input.bytes(), a.numbers(), a.dtype, "an input");
}

}  // namespace

void add_large_averages(std::vector<Case>& cases, const Scope& scope) {
    const auto add = [&](const Average& a,
                         void (*check)(const CaseContext&, const Average&)) {
        cases.push_back({case_name(a.operation, a.dtype, a.n, Layout::kDense,
                                   concat(" avg, ", algorithm_name(a.algorithm),
                                          ", sum out of range")),
                         [a, check](const CaseContext& context) { check(context, a); }});
    };
    for (const DType dtype : {DType::kFloat16, DType::kBFloat16})
        for (const int64_t n : {1, 1000, 20'011}) {
            for (const Algorithm algorithm : all_reduce_algorithms(scope))
                add({Operation::kAllReduce, dtype, n, algorithm}, check_all_reduce);
            add({Operation::kReduce, dtype, n}, check_reduce);
            add({Operation::kReduceScatter, dtype, n}, check_reduce_scatter);
        }
}

}  // namespace mini::dist::suite
