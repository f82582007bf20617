// The suite's cases: a table of operations, dtypes, sizes and layouts. Each case is a
// function that all ranks of a group call; it throws if the result of its rank is wrong.

#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <type_traits>
#include <vector>

#include "tests/distributed/suite/costs.hpp"
#include "tests/distributed/suite/values.hpp"
#include "tests/support/sanitizers.hpp"

namespace mini::dist::suite {

/// The group in which a case runs, and whether the case uses the blocking functions.
struct CaseContext {
    ProcessGroup& group;
    bool in_background = false;  // calls the _async function, then wait()

    int rank() const { return group.rank(); }
    int world_size() const { return group.world_size(); }
};

/// Calls the blocking function or, in the background, the _async function and wait().
template <typename... Parameters>
void either(const CaseContext& context, void (ProcessGroup::*blocking)(Parameters...),
            WorkHandle (ProcessGroup::*async)(Parameters...),
            std::type_identity_t<Parameters>... arguments) {
    if (context.in_background)
        (context.group.*async)(arguments...)->wait();
    else
        (context.group.*blocking)(arguments...);
}

struct Case {
    std::string name;
    std::function<void(const CaseContext&)> run;
};

struct Scope {
    int world_size = 1;
    bool ours = true;           // our own algorithms: their costs are known
    bool shares_memory = true;  // the ranks share memory, and an extra reduces in it
};

inline constexpr DType kTypes[] = {DType::kFloat32, DType::kInt64, DType::kUInt8,
                                   DType::kFloat16, DType::kBFloat16};
inline constexpr ReduceOp kReduceOps[] = {
    ReduceOp::kSum, ReduceOp::kAvg, ReduceOp::kProduct, ReduceOp::kMin, ReduceOp::kMax};
inline constexpr int64_t kSizes[] = {0, 1, 7, 1000};
// So many float32, 4 MiB, need more memory than the buffers of two sockets: Linux doubles
// the 1 MiB that each asks for. Each operation has one such case, of its last root. Fewer
// elements under the thread sanitizer, which is slow on large buffers.
inline constexpr int64_t kLarge = (mini::test::kWatchesThreads ? 1 << 18 : 1 << 20) + 3;

bool is_float(DType dtype);

/// Returns a name like "all_reduce of 7 float32, every-other", followed by `more`.
std::string case_name(Operation operation, DType dtype, int64_t n, Layout layout,
                      const std::string& more = "");

/// Returns the algorithms of all_reduce to test: all of our own, or only kAuto for a
/// library, which chooses its algorithm itself.
std::vector<Algorithm> all_reduce_algorithms(const Scope& scope);

/// Returns the roots to test: the first and the last rank; 0 for an operation without a
/// root.
std::vector<int> roots(Operation operation, int world_size);

// Each function appends its cases.
void add_collectives(std::vector<Case>& cases, const Scope& scope);
void add_single_tensors(std::vector<Case>& cases, const Scope& scope);
void add_same_bits(std::vector<Case>& cases, const Scope& scope);
void add_points(std::vector<Case>& cases, const Scope& scope);
void add_crowds(std::vector<Case>& cases, const Scope& scope);

std::vector<Case> all_cases(const Scope& scope);

}  // namespace mini::dist::suite
