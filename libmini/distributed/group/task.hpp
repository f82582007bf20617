// Task: one operation of a QueuedGroup, and the Work that its caller holds.
//
//     tensors on           how they are moved                     wait() returns when
//     the host             by the backend                         the backend is done
//     a GPU, host backend  staged: copied out, moved, copied in   the copy in is queued
//     the backend's GPU    launched: by the device                the launch is queued
//
// On a GPU the caller's stream waits for the results; the caller's thread does not.

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

/// How an operation accesses its tensors: the table above.
enum class Way : uint8_t { kHost, kStaged, kLaunched };

/// Returns how `backend` accesses the tensors of `call`. Throws Error for a GPU tensor
/// that is not on the backend's GPU, ShapeError if it is not contiguous, UsageError
/// during the capture of a CUDA graph.
Way way_of(const Call& call, const Backend& backend);

class Task : public Work {
  public:
    Task(Call wanted, const Collective& collective, Way way);

    /// Returns whether the host has the inputs.
    bool has_inputs() const;

    std::string text() const;
    bool is_completed() const override;
    void wait() override;
    int source_rank() const override;

    /// Returns the collective to launch on the backend's GPU; null for any other task.
    GpuCollective* on_gpu() { return gpu_.order ? &gpu_ : nullptr; }

    /// Takes the position of a GPU collective in the launch order of all groups.
    void take_turn();

    /// Releases that position.
    void give_up_turn() { gpu_.turn = nullptr; }

    /// Marks the collective as launched in the GPU's stream: wait() returns from now on.
    void set_launched();
    bool is_launched() const;

    void succeed();
    void fail(Failure failure);

    /// Frees the tensors of a task that has failed.
    void drop_tensors();

    Collective collective;
    PointMessage message;  // for send and recv
    FlightRecorder::Ticket ticket = 0;
    CollectiveQueue* queue = nullptr;  // for a blocking call: wait() may run it
    std::shared_ptr<std::atomic<bool>> failure_reported;  // the group's flag

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
