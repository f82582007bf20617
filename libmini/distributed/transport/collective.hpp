// Collective: which operation a message belongs to. It travels in the header of every
// message, so that ranks which call different things find out from the first message,
// instead of adding up numbers that do not belong together or waiting for one that never
// comes.

#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>

#include "libmini/distributed/transport/reduce_op.hpp"
#include "libmini/tensor/dtype.hpp"

namespace mini::dist {

/// What a collective does.
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

/// "all_reduce", "broadcast", ...: literals, good for the event log.
const char* operation_name(Operation operation);

/// Which of several algorithms an all_reduce runs: the same on every rank.
enum class Algorithm : uint8_t {
    kAuto,  // by size, see choose_algorithm
    kNaive,
    kTree,
    kRing,
    kRecursiveDoubling,
    kHalvingDoubling,
    kHierarchical,
};

/// "auto", "ring", ... and back; the latter throws UsageError naming the right ones.
const char* algorithm_name(Algorithm algorithm);
Algorithm parse_algorithm(const std::string& name);

/// One call of a collective, the same on every rank that called the same.
struct Collective {
    Operation operation = Operation::kBarrier;
    DType dtype = DType::kFloat32;
    ReduceOp reduce_op = ReduceOp::kSum;
    Algorithm algorithm = Algorithm::kAuto;
    int32_t root = -1;
    uint64_t count = 0;     // elements of one rank's tensor
    uint64_t sequence = 0;  // the calls before this one

    bool operator==(const Collective&) const = default;
};

/// "all_reduce #5 (sum of 100 float32)", "broadcast #3 (10 int64 from rank 0)", "barrier
/// #0".
std::string describe(const Collective& collective);

/// The collectives of one rank: the one under way and the last ones before it.
class CollectiveHistory {
  public:
    CollectiveHistory();

    /// Makes this the collective that is under way.
    void begin(const Collective& collective);
    const Collective& current() const { return current_; }

    /// Throws MismatchedCollective naming both ranks and what each of them ran as number
    /// `theirs.sequence`, unless `theirs` is the current one.
    void check_same(int my_rank, int their_rank, const Collective& theirs) const;

    /// Like check_same, but only where `theirs.sequence` is one of the last kKept that began
    /// here: a message of a rank that is ahead, or further behind, tells nothing.
    void check_number(int my_rank, int their_rank, const Collective& theirs) const;

  private:
    static constexpr size_t kKept = 64;
    Collective current_;
    std::array<Collective, kKept> last_;  // by sequence number modulo kKept, once it ran
};

}  // namespace mini::dist
