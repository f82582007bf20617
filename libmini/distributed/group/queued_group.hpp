// QueuedGroup: a process group over any backend. Checks calls, queues them, and runs them
// in order.
//
//     caller         all_reduce_async -> [ #7 | #8 | #9 ] -> communication thread -> Backend
//                    Work::wait       <- - - - - - - - - - - done, or failed
//
// The thread runs the collectives one after another, in the order of the calls, so ranks
// that call the same collectives in the same order always match. A blocking collective on
// an idle group runs on its caller's thread. Point-to-point messages do not wait for
// collectives: the thread gives a message to the backend between two collectives or, if it
// is woken, during one, as soon as the message's tensor is in host memory.
//
// Collectives on the memory of the backend's GPU leave the queue when they are in the
// backend's stream, and are in flight until the device is done. The communication thread
// never waits for a device without checking deadlines.
//
// After the first failure a rank no longer knows what the other ranks have received, so
// the group stays broken: queued and later operations fail immediately with the message
// of the first failure.

#pragma once

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "libmini/distributed/group/backend.hpp"
#include "libmini/distributed/group/group_identity.hpp"
#include "libmini/distributed/group/group_observer.hpp"
#include "libmini/distributed/group/process_group.hpp"
#include "libmini/distributed/group/task.hpp"
#include "libmini/distributed/net/system.hpp"

namespace mini::dist {

class QueuedGroup : public ProcessGroup {
  public:
    /// `identity`: of a subgroup; the default is the identity of all ranks of the job.
    QueuedGroup(std::unique_ptr<Backend> backend, std::chrono::milliseconds timeout,
                GroupIdentity identity = {});
    ~QueuedGroup() override;

    int rank() const override { return backend_->rank(); }
    int world_size() const override { return backend_->world_size(); }
    std::string name() const override;
    std::vector<int> world_ranks() const override;
    std::string backend() const override { return backend_->name(); }
    std::chrono::milliseconds timeout() const override { return timeout_; }
    EventLog& events() override { return events_; }

    WorkHandle start(Call call) override;
    std::shared_ptr<ProcessGroup> new_group(const std::vector<int>& ranks) override;
    void shutdown() override;

    /// Runs a barrier whose timeout ends at `deadline`; ignores the group's timeout.
    void barrier_until(Deadline deadline);

    /// Leaves the group immediately because this rank failed; the operations of the other
    /// ranks throw PeerLost with `reason`.
    void abandon(const std::string& reason);

  private:
    using Tasks = std::deque<TaskHandle>;
    enum class When { kAfterQueue, kNow };

    std::unique_ptr<Backend> split(const std::vector<int>& ranks,
                                   const GroupIdentity& identity);
    void check_usable(Operation operation) const;
    bool has_work() const {
        return !queue_.empty() || !points_.empty() || !in_flight_.empty();
    }
    bool is_idle() const { return !running_ && !closed_ && !has_work(); }
    bool run_here(Call& call);
    void loop();
    void run(TaskHandle task, std::unique_lock<std::mutex>& lock);
    void execute(const TaskHandle& task);
    int64_t record_begin(const Call& call, const Collective& collective);
    void carry_out(const Call& call, const Collective& collective,
                   std::chrono::milliseconds timeout,
                   GroupObserver::OperationId operation);
    void launch(const TaskHandle& task);
    void post_points();
    Tasks take_ready_points();
    void check_in_time(const Task& task) const;
    void wait_for_inputs(const Task& task);
    [[noreturn]] void throw_late_inputs(const Task& task) const;
    void finish(const TaskHandle& task);
    Tasks take_queued();
    void fail(const TaskHandle& task, const Failure& failure,
              GroupObserver::OperationId operation);
    void fail_task(Task& task, const Failure& failure) const;
    void fail_all(const Tasks& tasks) const;
    void stop(const Failure& reason, When when);

    const std::unique_ptr<Backend> backend_;
    const std::chrono::milliseconds timeout_;
    const GroupIdentity identity_;
    uint64_t subgroups_ = 0;  // calls of new_group
    EventLog events_;
    const std::unique_ptr<GroupObserver> observer_;

    // The number of successive post_points() calls after which a message was not ready.
    // Only the thread in run() or run_here() uses it.
    int polls_ = 0;

    mutable std::mutex mutex_;  // guards the members below, except join_thread_
    std::condition_variable changed_;
    Tasks queue_;                     // collectives
    Tasks points_;                    // messages that the backend does not have yet
    std::set<TaskHandle> in_flight_;  // posted messages, and launched collectives
    uint64_t next_sequence_ = 0;
    bool running_ = false;  // the communication thread or a caller runs a collective
    bool closed_ = false;
    std::optional<Failure> failure_;  // the first failure; ranks as in the group
    bool late_failure_ = false;       // a launched task failed; its wait() had returned
    std::shared_ptr<std::atomic<bool>> failure_reported_ =  // a caller got failure_
        std::make_shared<std::atomic<bool>>(false);
    std::mutex stop_mutex_;
    std::function<void()> join_thread_;
};

}  // namespace mini::dist
