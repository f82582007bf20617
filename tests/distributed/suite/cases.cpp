#include "tests/distributed/suite/cases.hpp"

#include <cstdint>

#include "libmini/core/error.hpp"

namespace mini::dist::suite {

bool is_float(DType dtype) { return dtype != DType::kInt64 && dtype != DType::kUInt8; }

std::string case_name(Operation operation, DType dtype, int64_t n, Layout layout,
                      const std::string& more) {
    return concat(operation_name(operation), " of ", n, " ", dtype, ", ",
                  layout_name(layout), more);
}

std::vector<Algorithm> all_reduce_algorithms(const Scope& scope) {
    if (!scope.ours) return {Algorithm::kAuto};
    std::vector<Algorithm> algorithms = {Algorithm::kAuto,
                                         Algorithm::kNaive,
                                         Algorithm::kTree,
                                         Algorithm::kRing,
                                         Algorithm::kRecursiveDoubling,
                                         Algorithm::kHalvingDoubling,
                                         Algorithm::kHierarchical};
    if (scope.shares_memory) algorithms.push_back(Algorithm::kSharedMemory);
    return algorithms;
}

std::vector<int> roots(Operation operation, int world_size) {
    const bool has_root =
        operation == Operation::kBroadcast || operation == Operation::kReduce ||
        operation == Operation::kGather || operation == Operation::kScatter;
    if (world_size == 1 || !has_root) return {0};
    return {0, world_size - 1};
}

std::vector<Case> all_cases(const Scope& scope) {
    std::vector<Case> cases;
    add_collectives(cases, scope);
    add_single_tensors(cases, scope);
    add_same_bits(cases, scope);
    add_points(cases, scope);
    add_crowds(cases, scope);
    return cases;
}

}  // namespace mini::dist::suite
