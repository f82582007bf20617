// The suite's cases: a table of operations, types, sizes and layouts, each one a function
// that all ranks of a group call and that throws when its rank's part is wrong.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "tests/distributed/suite/costs.hpp"
#include "tests/distributed/suite/values.hpp"
#include "tests/support/sanitizers.hpp"

namespace mini::dist::suite {

/// Where a case runs.
struct CaseContext {
    ProcessGroup& group;
    bool in_background = false;  // by the _async function, waited for at once

    int rank() const { return group.rank(); }
    int world_size() const { return group.world_size(); }
};

struct Case {
    std::string name;
    std::function<void(const CaseContext&)> run;
};

struct Scope {
    int world_size = 1;
    bool ours = true;  // our own algorithms, whose costs are known
};

inline constexpr DType kTypes[] = {DType::kFloat32, DType::kInt64, DType::kUInt8,
                                   DType::kFloat16, DType::kBFloat16};
inline constexpr ReduceOp kReduceOps[] = {
    ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kMax};
inline constexpr int64_t kSizes[] = {0, 1, 7, 1000};
// As float32 more than the buffers of a socket, 1 MiB; the thread sanitizer takes long over
// much of its own shadow.
inline constexpr int64_t kLarge = (mini::test::kWatchesThreads ? 1 << 18 : 1 << 20) + 3;

bool is_float(DType dtype);

/// "all_reduce sum of 7 float32, every-other".
std::string case_name(Operation operation, DType dtype, int64_t n, Layout layout,
                      const std::string& more = "");

/// What all_reduce can run: all of ours, or what a library chooses.
std::vector<Algorithm> all_reduce_algorithms(const Scope& scope);

/// The roots worth trying: the first, the last.
std::vector<int> roots(int world_size);

// Each appends its cases.
void add_all_reduce(std::vector<Case>& cases, const Scope& scope);
void add_large_averages(std::vector<Case>& cases, const Scope& scope);
void add_same_bits(std::vector<Case>& cases, const Scope& scope);
void add_broadcast_and_reduce(std::vector<Case>& cases, const Scope& scope);
void add_gather_and_scatter(std::vector<Case>& cases, const Scope& scope);
void add_exchanges(std::vector<Case>& cases, const Scope& scope);
void add_points(std::vector<Case>& cases, const Scope& scope);
void add_crowds(std::vector<Case>& cases, const Scope& scope);

std::vector<Case> all_cases(const Scope& scope);

}  // namespace mini::dist::suite
