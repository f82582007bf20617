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
#include <chrono>
#include <condition_variable>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libmini/distributed/group/backend.hpp"
#include "libmini/distributed/group/gpu_staging.hpp"
#include "libmini/distributed/group/group_observer.hpp"
#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

class Task : public Work {
  public:
    /// Checks `call` and starts the copies of its GPU tensors that `backend` needs; does
    /// not block. `timeout` is for a call without its own. Throws as collective_of and
    /// Backend::on_gpu do, and ShapeError if an output on a GPU is not contiguous.
    Task(Call call, Backend& backend, std::chrono::milliseconds timeout);

    /// Returns whether the inputs are in host memory.
    bool has_inputs() const { return !staging_ || staging_->has_inputs(); }

    std::string text() const;
    bool is_completed() const override;
    void wait() override;
    int source_rank() const override;

    /// Returns the collective to launch on the backend's GPU; null for any other task.
    GpuCollective* on_gpu() const { return on_gpu_.get(); }

    /// Marks the collective as launched in the backend's stream: wait() no longer blocks.
    void set_launched();
    bool is_launched() const;

    void succeed();
    void fail(Failure failure);

    /// Frees the tensors of a task that has failed.
    void drop_tensors();

  private:
    void end(std::optional<Failure> failure);

    Call wanted_;  // the caller's tensors

  public:
    Call call;  // for the backend: contiguous tensors
    Collective collective;
    PointMessage message;  // for send and recv
    const std::chrono::milliseconds timeout;
    GroupObserver::OperationId operation_id = 0;
    std::shared_ptr<std::atomic<bool>> failure_reported;  // the group's flag

  private:
    std::unique_ptr<GpuStaging> staging_;
    std::unique_ptr<GpuCollective> on_gpu_;
    mutable std::mutex mutex_;
    std::condition_variable changed_;
    bool launched_ = false;
    bool done_ = false;
    std::optional<Failure> failure_;
};

using TaskHandle = std::shared_ptr<Task>;

}  // namespace mini::dist
