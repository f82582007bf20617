// Task: one operation of a QueuedGroup, and the Work that its caller holds.
//
//     tensors              the data is moved                      wait() returns when
//     on the host          by the backend                         the backend is done
//     on a GPU, for a      staged: copied to the host, moved      the copy to the GPU is
//     host backend         by the backend, copied to the GPU      queued
//     on the backend's     launched: moved by the GPU             the collective is in
//     GPU                                                         the backend's stream
//
// With GPU tensors the caller's stream waits for the results; the caller's thread does
// not.

#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libmini/distributed/group/backend.hpp"
#include "libmini/distributed/group/gpu_staging.hpp"
#include "libmini/distributed/group/group_observer.hpp"
#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

/// How an operation accesses its tensors: the table above.
enum class Way : uint8_t { kHost, kStaged, kLaunched };

/// Returns how `backend` accesses the tensors of `call`. Throws Error if a GPU tensor is
/// not on the backend's GPU, and ShapeError if an output on a GPU is not contiguous.
Way way_of(const Call& call, const Backend& backend);

class Task : public Work {
  public:
    Task(Call wanted, const Collective& collective, Way way);

    /// Returns whether the inputs are in host memory.
    bool has_inputs() const;

    std::string text() const;
    bool is_completed() const override;
    void wait() override;
    int source_rank() const override;

    /// Returns the collective to launch on the backend's GPU; null for any other task.
    GpuCollective* on_gpu() { return gpu_.order ? &gpu_ : nullptr; }

    /// Takes the next position in the launch order of the GPU's collectives
    /// (launch_position.hpp). Has no effect on other tasks.
    void take_turn();

    /// Releases the position that take_turn() took.
    void give_up_turn() { gpu_.turn = nullptr; }

    /// Marks the collective as launched in the backend's stream: wait() no longer blocks.
    void set_launched();
    bool is_launched() const;

    void succeed();
    void fail(Failure failure);

    /// Frees the tensors of a task that has failed.
    void drop_tensors();

    Collective collective;
    PointMessage message;  // for send and recv
    GroupObserver::Ticket ticket = 0;
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
    Call call;  // the call for the backend, on contiguous tensors
};

using TaskHandle = std::shared_ptr<Task>;

}  // namespace mini::dist
