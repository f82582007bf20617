// Flight recorder: always records this rank's last operations, to diagnose a job that
// hangs or fails (PyTorch's flight recorder, TORCH_NCCL_TRACE_BUFFER_SIZE).
//
//     QueuedGroup   queued -> started -> finished
//                                   '--> failed      -> the reason, recorded in the dump
//
// The records are in the rank's dump (flight_dump.hpp). With MINI_FLIGHT_DIR, the dump is
// the file flight-<run>-rank<r>.dump in that folder, and SIGUSR1 logs the file's path;
// without it, SIGUSR1 copies the dump into $TMPDIR or /tmp. `mini flight` reads the dumps
// of all ranks and prints the operations that some ranks did not reach. Recording an
// operation costs less than 0.5 us (tests/extras/flight/flight_recorder_test.cpp).
//
// The signal handler only posts a semaphore, for which a thread waits while any group
// exists. If the program already handles or ignores SIGUSR1, nothing is installed.

#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "libmini/distributed/group/group_observer.hpp"
#include "libmini/extras/flight/flight_dump.hpp"

namespace mini::dist {

/// The records of one rank of one group. Thread-safe.
class FlightRecorder : public GroupObserver {
  public:
    /// A group without a name is "default": a later one replaces the dump of the first.
    /// Without `members`, `rank` is the rank in the job or, for later groups,
    /// current_world() has it.
    explicit FlightRecorder(const GroupOfRank& group);
    ~FlightRecorder() override;
    FlightRecorder(const FlightRecorder&) = delete;
    FlightRecorder& operator=(const FlightRecorder&) = delete;

    /// Records a queued collective or point-to-point message, and returns its id.
    /// `bytes` is the size of one rank's tensor; `peer` and `tag` belong to
    /// point-to-point messages. The root and `peer` are ranks of the group.
    OperationId queued(const Collective& collective, uint64_t bytes, int peer = -1,
                       uint64_t tag = 0) noexcept override;
    /// Records that an operation has started.
    void started(OperationId id) noexcept override;
    /// Records a collective that starts at `now` and was not queued.
    OperationId started_at_once(const Collective& collective, uint64_t bytes,
                                int64_t now) noexcept override;
    /// Records that an operation has finished, and the algorithm of an all_reduce.
    void finished(OperationId id, const char* algorithm, int64_t now) noexcept override {
        end(id, FlightRecord::State::kFinished, algorithm, now);
    }
    /// Records that an operation has failed.
    void failed(OperationId id) noexcept override {
        end(id, FlightRecord::State::kFailed, "", flight_now());
    }

    /// Returns the current records.
    Flight snapshot() const;

    /// Returns the path of the dump file in MINI_FLIGHT_DIR; "" if the dump is only in
    /// memory.
    const std::string& path() const { return path_; }

    /// Writes a copy of the dump into `folder` atomically, and returns the path of the
    /// copy. `occasion` becomes the copy's reason if the dump has no reason. Throws
    /// BadFile if the copy cannot be written.
    std::string copy_to(const std::string& folder, const std::string& occasion) const;

    /// Records why the group ended, and the lost rank of the job that caused the end (-1:
    /// none).
    void note_failure(const std::string& reason, int blamed = -1) noexcept override;

  private:
    void open_dump();
    int world_rank(int rank) const;
    OperationId add(FlightRecord record) noexcept;
    FlightRecord* find(OperationId id) noexcept;
    void end(OperationId id, FlightRecord::State state, const char* algorithm,
             int64_t now) noexcept;

    FlightHead head_;
    std::string path_;
    mutable std::mutex mutex_;  // guards the dump
    FlightDump* dump_ = nullptr;
};

}  // namespace mini::dist
