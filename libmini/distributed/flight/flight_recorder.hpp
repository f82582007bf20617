// Flight recorder: what this rank's last operations were, always on, for the moment when
// a job hangs or fails (PyTorch's flight recorder, TORCH_NCCL_TRACE_BUFFER_SIZE).
//
//     QueuedGroup   queued -> started -> finished
//                                   '--> failed      -> the reason, noted in the box
//
// The records lie in the rank's box (flight_box.hpp). With MINI_FLIGHT_DIR that is the
// file $MINI_FLIGHT_DIR/flight-<run>-rank<r>.box from the start, and SIGUSR1 makes the
// rank log its name; without, SIGUSR1 copies the box into $TMPDIR or /tmp. `mini flight`
// reads the boxes of all ranks and says which ranks did not reach which operation.
//
// A record of three steps costs under 0.5 us
// (tests/distributed/flight_recorder_test.cpp).
//
// The signal's handler only posts a semaphore; a small thread, there as long as any group
// is, answers it. A program that handles SIGUSR1 itself, or ignores it, is left
// alone.

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

    /// "": "default" for a process's first group, "group 1" and so on for further ones.
    std::string group = "";
};

/// The records of one rank of one group. Thread-safe.
class FlightRecorder {
  public:
    /// Names an operation; 0 names none.
    using Ticket = uint64_t;

    explicit FlightRecorder(const FlightRecorderOptions& options);
    ~FlightRecorder();
    FlightRecorder(const FlightRecorder&) = delete;
    FlightRecorder& operator=(const FlightRecorder&) = delete;

    /// Records an operation: a numbered one, or a message from point to point.
    Ticket queued(const Collective& collective, uint64_t bytes, int peer = -1,
                  uint64_t tag = 0) noexcept;
    void started(Ticket ticket) noexcept;
    void finished(Ticket ticket, const char* algorithm = "") noexcept;
    void failed(Ticket ticket) noexcept;

    /// What is recorded at present.
    Flight snapshot() const;

    /// The box's file in MINI_FLIGHT_DIR; "" when the box lies in memory alone.
    const std::string& path() const { return path_; }

    /// Writes a copy of the box into `folder`, whole or not at all, and returns its path.
    /// `occasion` stands in for the reason when there is none. Throws Error.
    std::string copy_to(const std::string& folder, const std::string& occasion) const;

    /// Notes why the group ended, with the rank whose loss was the reason, if any.
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
