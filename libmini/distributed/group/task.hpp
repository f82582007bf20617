// Task: one operation of a QueuedGroup, and the Work that its caller holds.
//
//     where the tensors are    what happens                              wait() returns when
//     the host                 the backend moves them                    it has
//     a GPU, host's backend    staged: copied out, moved, copied in      the copy in is queued
//     a GPU, the backend's     launched: the device moves them           that is queued
//
// On a GPU the caller's stream waits for the rest, not its thread.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libmini/distributed/flight/flight_recorder.hpp"
#include "libmini/distributed/group/backend.hpp"
#include "libmini/distributed/group/collective_queue.hpp"
#include "libmini/distributed/group/gpu_staging.hpp"
#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

/// How an operation reaches the tensors: the table above.
enum class Way : uint8_t { kHost, kStaged, kLaunched };

/// The way of a call to `backend`. Throws UsageError or ShapeError for tensors on a GPU that
/// `backend` cannot take.
Way way_of(const Call& call, const Backend& backend);

class Task : public Work {
  public:
    Task(Call wanted, const Collective& collective, Way way);

    /// Whether the host has what the call reads.
    bool has_inputs() const;

    std::string text() const;
    bool is_completed() const override;
    void wait() override;
    int source_rank() const override;

    /// The call of the backend's GPU; null for any other.
    GpuCollective* on_gpu() { return gpu_.order ? &gpu_ : nullptr; }

    /// A collective on a GPU takes its place among those of all groups, or gives it up.
    void take_turn();
    void give_up_turn() { gpu_.turn = nullptr; }

    /// It is in the GPU's stream: wait() returns from now on.
    void set_launched();
    bool is_launched() const;

    void succeed();
    void fail(Failure failure);

    /// Frees the tensors of a task that has failed.
    void drop_tensors();

    Collective collective;
    PointMessage message;  // of send and recv
    FlightRecorder::Ticket ticket = 0;
    CollectiveQueue* queue = nullptr;  // of a blocking call: wait() may run it there
    std::shared_ptr<std::atomic<bool>> failure_reported;  // the group's

  private:
    void end(std::optional<Failure> failure);

    Call wanted_;
    std::unique_ptr<GpuStaging> staging_;
    GpuCollective gpu_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool launched_ = false;
    bool done_ = false;
    std::optional<Failure> failure_;

  public:
    Call call;  // on contiguous tensors
};

}  // namespace mini::dist
