// The registry of a group's observer: an extra that records the operations of all groups
// attaches here (libmini/extras/flight).

#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "libmini/distributed/transport/collective.hpp"

namespace mini::dist {

/// A rank of a group that has been created.
struct GroupOfRank {
    int rank = 0;
    int world_size = 1;
    std::string backend = "";
    std::string group = "";         // the name of a subgroup, else ""
    std::vector<int> members = {};  // of a subgroup, by rank: the rank in the job
};

/// Is told what happens to the operations of a group on one rank; this class ignores it.
/// Thread-safe.
class GroupObserver {
  public:
    using OperationId = uint64_t;

    virtual ~GroupObserver() = default;
    virtual OperationId queued(const Collective& /*what*/, uint64_t /*bytes*/,
                               int /*peer*/ = -1, uint64_t /*tag*/ = 0) noexcept {
        return 0;
    }
    virtual void started(OperationId /*operation*/) noexcept {}
    /// A collective starts without having been queued. `now`, here and below: the time in
    /// nanoseconds of the monotonic clock.
    virtual OperationId started_at_once(const Collective& /*what*/, uint64_t /*bytes*/,
                                        int64_t /*now*/) noexcept {
        return 0;
    }
    virtual void finished(OperationId /*operation*/, const char* /*algorithm*/,
                          int64_t /*now*/) noexcept {}
    virtual void failed(OperationId /*operation*/) noexcept {}

    /// Tells why the group ended, and the rank of the job that caused it (-1: none).
    virtual void note_failure(const std::string& /*reason*/,
                              int /*blamed*/ = -1) noexcept {}
};

/// Makes the observer of each later group of the process; null: no group is observed.
inline std::atomic<std::unique_ptr<GroupObserver> (*)(const GroupOfRank&)>
    make_group_observer = nullptr;

}  // namespace mini::dist
