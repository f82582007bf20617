// Collective: identifies the collective call that a message belongs to. It is part of
// every message header, so that ranks that call different collectives detect it at the
// first message, instead of adding unrelated numbers or waiting forever.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/tensor/dtype.hpp"

namespace mini::dist {

/// The operations of a process group.
enum class Operation : uint8_t {
    kAllReduce,
    kBroadcast,
    kReduce,
    kAllGather,
    kGather,
    kScatter,
    kReduceScatter,
    kAllToAll,
    kBarrier,
    kSend,
    kRecv,
};

/// "all_reduce", "broadcast", ...: string literals, as the event log requires.
const char* operation_name(Operation operation);

/// The algorithm of an all_reduce; the same on every rank.
enum class Algorithm : uint8_t {
    kAuto,  // by size, see choose_algorithm
    kNaive,
    kTree,
    kRing,
    kRecursiveDoubling,
    kHalvingDoubling,
    kHierarchical,
};

/// "auto", "ring", ...
const char* algorithm_name(Algorithm algorithm);

/// Parses a name. Throws UsageError naming all algorithms for an unknown name.
Algorithm parse_algorithm(const std::string& name);

/// One call of a collective; equal on all ranks that made the same call.
struct Collective {
    Operation operation = Operation::kBarrier;
    DType dtype = DType::kFloat32;
    ReduceOp reduce_op = ReduceOp::kSum;
    Algorithm algorithm = Algorithm::kAuto;
    int32_t root = -1;
    uint64_t count = 0;     // elements of one rank's tensor
    uint64_t sequence = 0;  // the number of calls before this one

    bool operator==(const Collective&) const = default;
};

/// "all_reduce #5 (sum of 100 float32)", "broadcast #3 (10 int64 from rank 0)", "barrier
/// #0".
std::string describe(const Collective& collective);

/// The current collective of one rank and the last ones before it.
class CollectiveHistory {
  public:
    CollectiveHistory();

    /// Makes `collective` the current one.
    void begin(const Collective& collective);
    const Collective& current() const { return current_; }

    /// Throws MismatchedCollective unless `theirs` equals the current collective. The
    /// message names both ranks and the collective that each ran as number
    /// `theirs.sequence`.
    void check_same(int my_rank, int their_rank, const Collective& theirs) const;

    /// Like check_same, but compares only if `theirs.sequence` is one of the last kKept
    /// calls that began here: a rank that is ahead, or further behind, cannot be
    /// compared.
    void check_number(int my_rank, int their_rank, const Collective& theirs) const;

  private:
    static constexpr size_t kKept = 64;
    Collective current_;
    std::array<Collective, kKept>
        last_;  // the one with sequence number s at index s modulo kKept
};

}  // namespace mini::dist
