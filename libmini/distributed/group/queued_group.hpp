// The process group over any backend: checks calls, queues them, runs them in order.
//
//     caller         all_reduce_async -> [ #7 | #8 | #9 ] -> communication thread -> Backend
//                    Work::wait       <- - - - - - - - - - - done, or what it failed with
//
// One thread is enough, and the order of the calls is the order on the wire: that is why
// ranks that call the same things in the same order always meet. A blocking call whose
// turn it is runs on the caller's own thread, which saves waking the other one up twice.
// Messages from point to point have no place in this order: they are handed to the
// backend as soon as it looks up and a GPU has come to their tensors. Collectives on the memory
// of the backend's GPU are out of the queue once they are in its stream; the thread looks after
// them until the device is done. It never waits for a device without looking at deadlines.
//
// After the first failure ranks no longer know what the others have received, so the
// group stays broken: what is queued and what comes later fails at once with the first
// failure's text.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "libmini/distributed/flight/flight_recorder.hpp"
#include "libmini/distributed/group/backend.hpp"
#include "libmini/distributed/group/process_group.hpp"

namespace mini::dist {

class QueuedGroup : public ProcessGroup {
  public:
    QueuedGroup(std::unique_ptr<Backend> backend, std::chrono::milliseconds timeout);
    ~QueuedGroup() override;

    int rank() const override { return backend_->rank(); }
    int world_size() const override { return backend_->world_size(); }
    std::string backend() const override { return backend_->name(); }
    std::chrono::milliseconds timeout() const override { return timeout_; }
    EventLog& events() override { return events_; }

    WorkHandle start(Call call) override;
    std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks) override;
    void shutdown() override;

    /// A barrier that ends by `deadline`, whatever the group's timeout.
    void barrier_until(Deadline deadline);

    /// Leaves at once because this rank failed; the others get PeerLost with `reason`.
    void abandon(const std::string& reason);

  private:
    class Task;
    using TaskHandle = std::shared_ptr<Task>;
    using Tasks = std::deque<TaskHandle>;
    enum class When { kAfterQueue, kNow };
    enum class Way : uint8_t { kHost, kStaged, kLaunched };  // see queued_task.hpp

    Way way_of(const Call& call) const;
    void check_usable(const Call& call) const;
    void enqueue_point(const TaskHandle& task);
    void enqueue_collective(const TaskHandle& task);
    bool is_idle() const;
    bool has_work() const;

    void run();
    void turn(const TaskHandle& task);
    void help(const Task& task);
    void let_next_caller_in();
    void execute(const TaskHandle& task);
    void launch(const TaskHandle& task);
    void post_points();
    Tasks take_ready_points(bool& all_ready);
    void check_in_time(const Task& task) const;
    void wait_for_inputs(const Task& task);
    [[noreturn]] void throw_late_inputs(const Task& task,
                                        std::chrono::milliseconds waited) const;
    void finish(const TaskHandle& task);
    void fail(const TaskHandle& task, const Failure& failure);
    void fail_all(const Tasks& tasks) const;
    void stop(const Failure& reason, When when);

    const std::unique_ptr<Backend> backend_;
    const std::chrono::milliseconds timeout_;
    EventLog events_;
    FlightRecorder recorder_;

    int looks_ = 0;  // at messages that are not ready; of the thread in the backend

    std::mutex mutex_;  // guards all below
    std::condition_variable changed_;
    Tasks queue_;                     // collectives to come
    Tasks new_points_;                // messages from point to point to come
    std::set<TaskHandle> under_way_;  // those handed over, and collectives on a GPU
    uint64_t next_sequence_ = 0;
    bool running_ = false;      // a thread is in the backend
    bool progressing_ = false;  // it is there for messages from point to point alone
    bool closing_ = false;
    std::optional<Failure> failure_;  // the first one
    bool is_unheard_ = false;         // it is of what a caller has waited for already,
    std::shared_ptr<std::atomic<bool>> is_heard_ =  // unless somebody was told since
        std::make_shared<std::atomic<bool>>(false);
    bool has_blocked_caller_ = false;
    std::mutex stop_mutex_;
    std::thread thread_;
};

}  // namespace mini::dist
