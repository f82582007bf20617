// Flight recorder: records this rank's last operations, always on, to diagnose a job that
// hangs or fails (PyTorch's flight recorder, TORCH_NCCL_TRACE_BUFFER_SIZE).
//
//     QueuedGroup   queued -> started -> finished
//                                   '--> failed      -> the reason, recorded in the box
//
// The records are in the rank's box (flight_box.hpp). With MINI_FLIGHT_DIR the box is the
// file $MINI_FLIGHT_DIR/flight-<run>-rank<r>.box from the start, and SIGUSR1 makes the
// rank log the file's name. Without MINI_FLIGHT_DIR, SIGUSR1 copies the box into $TMPDIR
// or /tmp. `mini flight` reads the boxes of all ranks and prints which ranks did not
// reach which operation.
//
// Recording an operation (queued, started, finished) costs less than 0.5 us
// (tests/distributed/flight_recorder_test.cpp).
//
// The signal handler only posts a semaphore; a small thread, which runs while any group
// exists, does the work. If the program handles or ignores SIGUSR1, its setting is kept.

#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "libmini/distributed/flight/flight_box.hpp"

namespace mini::dist {

struct FlightRecorderOptions {
    int rank = 0;
    int world_size = 1;
    std::string backend = "";

    /// "": "default" for a process's first group, "group 1" and so on for later ones.
    std::string group = "";
};

/// The records of one rank of one group. Thread-safe.
class FlightRecorder {
  public:
    /// Identifies an operation; 0 means no operation.
    using Ticket = uint64_t;

    explicit FlightRecorder(const FlightRecorderOptions& options);
    ~FlightRecorder();
    FlightRecorder(const FlightRecorder&) = delete;
    FlightRecorder& operator=(const FlightRecorder&) = delete;

    /// Records a queued operation, a collective or a point-to-point message.
    Ticket queued(const Collective& collective, uint64_t bytes, int peer = -1,
                  uint64_t tag = 0) noexcept;
    void started(Ticket ticket) noexcept;
    void finished(Ticket ticket, const char* algorithm = "") noexcept;
    void failed(Ticket ticket) noexcept;

    /// Returns the current records.
    Flight snapshot() const;

    /// Returns the path of the box file in MINI_FLIGHT_DIR; "" if the box is only in
    /// memory.
    const std::string& path() const { return path_; }

    /// Writes a copy of the box into `folder`, completely or not at all, and returns its
    /// path. `occasion` is the copy's reason if the box has none. Throws Error.
    std::string copy_to(const std::string& folder, const std::string& occasion) const;

    /// Records why the group ended, and the lost rank that was the cause, if any.
    void note_failure(const std::string& reason, int blamed = -1) noexcept;

  private:
    void open_box();
    FlightRecord* find(Ticket ticket) noexcept;
    void end(Ticket ticket, FlightRecord::State state, const char* algorithm) noexcept;

    FlightHead head_;
    int world_rank_;
    std::string path_;
    mutable std::mutex mutex_;  // guards the box
    FlightBox* box_ = nullptr;
};

}  // namespace mini::dist
