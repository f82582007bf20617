// Collective: identifies the collective call that a message belongs to. Every message
// header contains a Collective, so that ranks that call different collectives detect the
// mismatch at the first message, instead of adding unrelated numbers or waiting forever.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "libmini/core/dtype.hpp"
#include "libmini/distributed/transport/reduce_op.hpp"

namespace mini::dist {

/// The peer of a receive that takes the first message that arrives, from any rank.
constexpr int kAnySource = -1;

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

/// Returns "all_reduce", "broadcast", ...: a string literal, as the event log requires.
const char* operation_name(Operation operation);

/// The algorithm of an all_reduce; the same on every rank.
enum class Algorithm : uint8_t {
    kAuto,  // see choose_algorithm (backends/transport_backend.hpp)
    kNaive,
    kTree,
    kRing,
    kRecursiveDoubling,
    kHalvingDoubling,
    kHierarchical,
    kSharedMemory,
};

/// Returns "auto", "ring", ...
const char* algorithm_name(Algorithm algorithm);

/// Parses an algorithm's name. Throws UsageError that lists all names for an unknown
/// name.
Algorithm parse_algorithm(const std::string& name);

/// The sequence numbers from here on belong to the collectives in which the ranks join a
/// group; no call of the group reaches them.
constexpr uint64_t kFirstJoiningSequence = ~uint64_t{1};

/// The count of a collective whose tensors have different sizes.
constexpr uint64_t kUnevenCount = ~uint64_t{0};

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

/// Returns a description, such as "all_reduce #5 (sum of 100 float32)", "broadcast #3 (10
/// int64 from rank 0)" or "barrier #0".
std::string describe(const Collective& collective);

/// The current collective of one rank, and the last collectives before it.
class CollectiveHistory {
  public:
    CollectiveHistory();

    /// Makes `collective` the current collective.
    void begin(const Collective& collective);
    const Collective& current() const { return current_; }

    /// Throws MismatchedCollective unless `theirs` equals the current collective. The
    /// message names both ranks, `theirs`, and this rank's collective with the same
    /// sequence number (the current collective if that one is unknown).
    void check_same(int my_rank, int their_rank, const Collective& theirs) const;

    /// Throws like check_same if `theirs` differs from this rank's collective with the
    /// same sequence number. Does nothing if that collective is not among the last kKept
    /// collectives of this rank, because the other rank is ahead or too far behind.
    void check_number(int my_rank, int their_rank, const Collective& theirs) const;

  private:
    static constexpr size_t kKept = 64;
    Collective current_;
    std::array<Collective, kKept>
        last_;  // the collective with sequence number s is at index s modulo kKept
};

}  // namespace mini::dist
