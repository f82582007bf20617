// The collectives: exact values, costs, and bitwise identical results on all ranks.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/shared_all_reduce.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/distributed/suite/cases.hpp"

namespace mini::dist::suite {
namespace {

constexpr int kNoRank = 99;  // its blocks fill tensors that a collective must overwrite

// Returns 1.5 times the largest power of two of the dtype, alternately positive and
// negative. The sum of two such numbers is infinite. If the numbers are first divided by a
// power of two, sums of up to 7 are exact.
Bytes large_numbers(DType dtype, int64_t n) {
    const double large = dtype == DType::kFloat16 ? 0x1.8p15 : 0x1.8p127;
    return repeat(dtype, n, [&](int64_t i) { return i % 2 == 0 ? large : -large; });
}

struct Collective {
    Operation operation;
    DType dtype = DType::kFloat32;
    int64_t n = 0;
    Layout layout = Layout::kDense;
    ReduceOp op = ReduceOp::kSum;
    Algorithm algorithm = Algorithm::kAuto;
    int root = 0;
    bool is_large = false;  // averages large_numbers()
    bool in_place = false;  // one tensor is input and output of its rank, as with NCCL

    // Returns block `number` of rank `rank`.
    Bytes block(int rank, int number = 0) const {
        return is_large ? large_numbers(dtype, n) : share(dtype, n, op, rank, number);
    }
    // Returns the reduction of block `number` of all ranks.
    Bytes reduced(int P, int number = 0) const {
        return is_large ? large_numbers(dtype, n) : reduction(dtype, n, op, P, number);
    }
};

using Blocks = std::vector<Bytes>;

// The tensors of one rank. `results`: what the outputs become; empty if unspecified.
struct Data {
    Blocks inputs, outputs, results;
};

Data data_of(const Collective& c, int rank, int P) {
    const auto for_ranks = [&](const auto& block) {
        Blocks all;
        for (int k = 0; k < P; ++k) all.push_back(block(k));
        return all;
    };
    const auto own_for = [&](int k) { return c.block(rank, k); };
    const auto empty = [&] { return c.block(kNoRank); };
    const auto empty_from = [&](int) { return empty(); };
    const bool is_root = rank == c.root;
    switch (c.operation) {
        case Operation::kAllReduce: return {{}, {c.block(rank)}, {c.reduced(P)}};
        case Operation::kReduce:
            return {{}, {c.block(rank)}, is_root ? Blocks{c.reduced(P)} : Blocks{}};
        case Operation::kBroadcast: return {{}, {c.block(rank)}, {c.block(c.root)}};
        case Operation::kGather:
            if (!is_root) return {{c.block(rank)}, {}, {}};
            [[fallthrough]];
        case Operation::kAllGather:
            return {{c.block(rank)}, for_ranks(empty_from), for_ranks([&](int k) {
                        return c.block(k);
                    })};
        case Operation::kScatter:
            return {is_root ? for_ranks(own_for) : Blocks{},
                    {empty()},
                    {c.block(c.root, rank)}};
        case Operation::kReduceScatter:
            return {for_ranks(own_for), {empty()}, {c.reduced(P, rank)}};
        case Operation::kAllToAll:
            return {for_ranks(own_for), for_ranks(empty_from),
                    for_ranks([&](int k) { return c.block(k, rank); })};
        default: return {};
    }
}

void run(const CaseContext& context, const Collective& c,
         const std::vector<Tensor>& outputs, const std::vector<Tensor>& inputs) {
    using G = ProcessGroup;
    const Tensor output = outputs.empty() ? Tensor() : outputs.front();
    const Tensor input = inputs.empty() ? Tensor() : inputs.front();
    switch (c.operation) {
        case Operation::kAllReduce:
            return either(context, &G::all_reduce, &G::all_reduce_async, output, c.op,
                          c.algorithm);
        case Operation::kReduce:
            return either(context, &G::reduce, &G::reduce_async, output, c.root, c.op);
        case Operation::kBroadcast:
            return either(context, &G::broadcast, &G::broadcast_async, output, c.root);
        case Operation::kGather:
            return either(context, &G::gather, &G::gather_async, outputs, input, c.root);
        case Operation::kAllGather:
            return either(context, &G::all_gather, &G::all_gather_async, outputs, input);
        case Operation::kScatter:
            return either(context, &G::scatter, &G::scatter_async, output, inputs,
                          c.root);
        case Operation::kReduceScatter:
            return either(context, &G::reduce_scatter, &G::reduce_scatter_async, output,
                          inputs, c.op);
        case Operation::kAllToAll:
            return either(context, &G::all_to_all, &G::all_to_all_async, outputs, inputs);
        default: return either(context, &G::barrier, &G::barrier_async);
    }
}

// The suite's data are in no memory that other ranks can map: in place of shared-memory the
// ring runs, after the ranks have told each other so.
void check_cost_of(const CaseContext& context, const Collective& c, bool shares_memory) {
    const Load load{c.n, static_cast<int64_t>(item_size(c.dtype)), context.world_size(),
                    context.rank()};
    if (c.operation != Operation::kAllReduce)
        return check_cost(context.group, collective_cost(c.operation, load, c.root));
    const Algorithm ran = parse_algorithm(last_spent(context.group).algorithm);
    const bool is_auto = c.algorithm == Algorithm::kAuto;
    const bool asked = c.algorithm == Algorithm::kSharedMemory ||
                       (is_auto && shares_memory && load.bytes() > int64_t{kSmallBytes});
    const Algorithm expected = asked ? Algorithm::kRing : c.algorithm;
    MINI_CHECK(ran == expected || (is_auto && !asked), "all_reduce ran ",
               algorithm_name(ran), " in place of ", algorithm_name(expected));
    check_cost(context.group,
               all_reduce_cost(asked ? Algorithm::kSharedMemory : ran, load));
}

std::vector<GuardedTensor> guarded(const Collective& c, const Blocks& blocks) {
    std::vector<GuardedTensor> tensors;
    for (const Bytes& block : blocks) tensors.emplace_back(c.dtype, block, c.layout);
    return tensors;
}

void check(const CaseContext& context, const Collective& c, const Scope& scope) {
    Data data = data_of(c, context.rank(), context.world_size());
    auto outputs = guarded(c, data.outputs), inputs = guarded(c, data.inputs);
    if (c.in_place && !outputs.empty() && !inputs.empty()) {
        const auto own = static_cast<size_t>(context.rank());
        if (c.operation == Operation::kAllGather || c.operation == Operation::kGather) {
            outputs[own] = inputs.front();
        } else {
            outputs.front() = inputs[own];
            data.inputs[own] = data.results.front();
        }
    }
    run(context, c, tensors_of(outputs), tensors_of(inputs));
    for (size_t k = 0; k < outputs.size(); ++k) {
        const Bytes result = outputs[k].bytes();  // checks the memory around it, too
        if (k < data.results.size())
            check_equal(result, data.results[k], c.dtype, concat("output ", k));
    }
    for (size_t k = 0; k < inputs.size(); ++k)
        check_equal(inputs[k].bytes(), data.inputs[k], c.dtype, concat("input ", k));
    if (scope.ours) check_cost_of(context, c, scope.shares_memory);
}

void check_rejected(const CaseContext& context, const Collective& c) {
    bool rejected = false;
    try {
        run(context, c, {Tensor::ones({c.n}, c.dtype)}, {});
    } catch (const Error&) {
        rejected = true;
    }
    MINI_CHECK(rejected, "an average of integers was not rejected");
}

std::vector<float> floats_of(const Bytes& bytes, DType dtype) {
    const GuardedTensor data(dtype, bytes, Layout::kDense);
    return ops::to(data.tensor(), DType::kFloat32).to_vector<float>();
}

// Throws Error unless kMin and kMax gave NaN wherever any rank has it.
void check_nan(const Collective& c, const Bytes& result, int world_size) {
    if (c.op != ReduceOp::kMin && c.op != ReduceOp::kMax) return;
    const std::vector<float> mine = floats_of(result, c.dtype);
    for (int rank = 0; rank < world_size; ++rank) {
        const auto theirs = floats_of(difficult(c.dtype, c.n, rank), c.dtype);
        for (size_t i = 0; i < mine.size(); ++i)
            MINI_CHECK(std::isnan(mine[i]) || !std::isnan(theirs[i]), "element ", i,
                       " lost the NaN of rank ", rank);
    }
}

// Compares the results of all ranks bitwise. all_gather distributes the results, because
// it only copies bytes.
void check_same_bits(const CaseContext& context, const Collective& c) {
    const GuardedTensor data(c.dtype, difficult(c.dtype, c.n, context.rank()), c.layout);
    run(context, c, {data.tensor()}, {});
    std::vector<Tensor> all;
    for (int rank = 0; rank < context.world_size(); ++rank)
        all.push_back(Tensor::empty({c.n}, c.dtype));
    context.group.all_gather(all, data.tensor());
    const Bytes mine = data.bytes();
    check_nan(c, mine, context.world_size());
    for (size_t rank = 0; rank < all.size(); ++rank) {
        const Bytes theirs(all[rank].raw_data(), all[rank].raw_data() + mine.size());
        check_equal(theirs, mine, c.dtype, concat("the result of rank ", rank));
    }
}

std::string name_of(const Collective& c) {
    return case_name(c.operation, c.dtype, c.n, c.layout,
                     concat(" ", reduce_op_name(c.op), ", ", algorithm_name(c.algorithm),
                            ", root ", c.root, c.is_large ? ", sum out of range" : "",
                            c.in_place ? ", in place" : ""));
}

bool is_average_of_integers(DType dtype, ReduceOp op) {
    return op == ReduceOp::kAvg && !is_float(dtype);
}

}  // namespace

void add_collectives(std::vector<Case>& cases, const Scope& scope) {
    using O = Operation;
    const auto add = [&cases, scope](const Collective& c) {
        const bool is_wrong = is_average_of_integers(c.dtype, c.op);
        cases.push_back({name_of(c), [=](const CaseContext& context) {
                             is_wrong ? check_rejected(context, c)
                                      : check(context, c, scope);
                         }});
    };

    // all_reduce
    for (const Algorithm algorithm : all_reduce_algorithms(scope)) {
        for (const DType dtype : kTypes) {
            for (const ReduceOp op : kReduceOps)
                for (const int64_t n : kSizes)
                    add({O::kAllReduce, dtype, n, Layout::kDense, op, algorithm});
            add({O::kAllReduce, dtype, 7, Layout::kEveryOther, ReduceOp::kSum,
                 algorithm});
            add({O::kAllReduce, dtype, 1000, Layout::kTransposed, ReduceOp::kMax,
                 algorithm});
        }
        add({O::kAllReduce, DType::kFloat32, kLarge, Layout::kDense, ReduceOp::kSum,
             algorithm});
    }
    add({O::kAllReduce, DType::kBFloat16, kLarge, Layout::kEveryOther, ReduceOp::kMin});

    // The other collectives on every dtype, size and root, dense and strided.
    for (const O operation : {O::kBroadcast, O::kReduce, O::kGather, O::kScatter,
                              O::kAllGather, O::kReduceScatter, O::kAllToAll}) {
        for (const int root : roots(operation, scope.world_size))
            for (const DType dtype : kTypes)
                for (const int64_t n : kSizes)
                    for (const Layout layout : {Layout::kDense, Layout::kEveryOther})
                        add({.operation = operation,
                             .dtype = dtype,
                             .n = n,
                             .layout = layout,
                             .root = root});
        add({.operation = operation, .n = kLarge, .root = scope.world_size - 1});
    }
    for (const O operation : {O::kAllGather, O::kGather, O::kScatter, O::kReduceScatter})
        for (const int root : roots(operation, scope.world_size))
            for (const DType dtype : kTypes)
                for (const int64_t n : kSizes)
                    add({.operation = operation,
                         .dtype = dtype,
                         .n = n,
                         .op = n == 7 ? ReduceOp::kMax : ReduceOp::kSum,
                         .root = root,
                         .in_place = true});
    for (int round = 0; round < 10; ++round) add({O::kBarrier});

    // reduce and reduce_scatter by every operation.
    for (const ReduceOp op : kReduceOps)
        for (const DType dtype : kTypes) {
            if (is_average_of_integers(dtype, op)) continue;
            Collective c{O::kReduce, dtype, 1000, Layout::kTransposed, op};
            for (const int root : roots(O::kReduce, scope.world_size)) {
                c.root = root;
                add(c);
            }
            for (const int64_t n : {7, 1000})
                add({O::kReduceScatter, dtype, n, Layout::kTransposed, op});
        }

    // Averages of 16-bit floats whose sum exceeds the range of the dtype.
    for (const DType dtype : {DType::kFloat16, DType::kBFloat16})
        for (const int64_t n : {1, 1000, 20'011}) {
            Collective c{O::kAllReduce, dtype, n, Layout::kDense, ReduceOp::kAvg};
            c.is_large = true;
            for (const Algorithm algorithm : all_reduce_algorithms(scope)) {
                c.algorithm = algorithm;
                add(c);
            }
            c.algorithm = Algorithm::kAuto;
            c.root = scope.world_size - 1;
            for (const O operation : {O::kReduce, O::kReduceScatter}) {
                c.operation = operation;
                add(c);
            }
        }
}

void add_same_bits(std::vector<Case>& cases, const Scope& scope) {
    for (const Algorithm algorithm : all_reduce_algorithms(scope))
        for (const DType dtype : {DType::kFloat32, DType::kFloat16, DType::kBFloat16})
            for (const ReduceOp op : kReduceOps)
                for (const int64_t n : {7, 1000, 20'011}) {
                    const Collective c{Operation::kAllReduce, dtype, n,
                                       Layout::kDense,        op,    algorithm};
                    cases.push_back({name_of(c) + ", bitwise identical",
                                     [c](const CaseContext& context) {
                                         check_same_bits(context, c);
                                     }});
                }
}

}  // namespace mini::dist::suite
