// One operation of a QueuedGroup, and the Work that its caller holds.
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
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "libmini/distributed/group/gpu_staging.hpp"
#include "libmini/distributed/group/queued_group.hpp"

namespace mini::dist {

class QueuedGroup::Task : public Work {
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

    /// Takes its place among the collectives of all groups, where it is one on a GPU.
    void take_turn();
    void give_up_turn() { gpu_.turn = nullptr; }

    /// It is in the GPU's stream: nobody need wait for more.
    void set_launched();
    bool is_launched() const;

    void succeed();
    void fail(Failure failure);

    /// Lets go of the tensors of a task that has failed, which nothing may use any more.
    void drop_tensors();

    Collective collective;
    PointMessage message;  // of send and recv
    FlightRecorder::Ticket ticket = 0;
    QueuedGroup* helper = nullptr;  // of a blocking call: who runs it if need be
    std::shared_ptr<std::atomic<bool>> is_heard;  // the group's

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
