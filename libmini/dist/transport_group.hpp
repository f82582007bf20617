// The process group over any transport: checks tensors, queues operations, runs them in
// order on one communication thread.
//
//     caller    all_reduce_async -> [ #7 | #8 | #9 ] -> communication thread
//               Work::wait       <- - - - - - - - - - - done, or what it failed with
//
// One thread is enough, and the order of the calls is the order on the wire: that is why
// ranks that call the same things in the same order always meet. After the first failure
// ranks no longer know what the others have received, so the group stays broken: what is
// queued and what comes later fails at once with the first failure's text.

#pragma once

#include <condition_variable>
#include <deque>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>

#include "libmini/dist/process_group.hpp"
#include "libmini/dist/transport.hpp"

namespace mini::dist {

class TransportGroup : public ProcessGroup {
  public:
    TransportGroup(std::string backend, std::unique_ptr<Transport> transport,
                   std::chrono::milliseconds timeout);
    ~TransportGroup() override;

    int rank() const override { return transport_->rank(); }
    int world_size() const override { return transport_->world_size(); }
    std::string backend() const override { return backend_; }
    std::chrono::milliseconds timeout() const override { return timeout_; }
    EventLog& events() override { return events_; }

    std::shared_ptr<Work> all_reduce_async(Tensor tensor, ReduceOp op) override;
    std::shared_ptr<Work> broadcast_async(Tensor tensor, int root) override;
    std::shared_ptr<Work> all_gather_async(std::vector<Tensor> outputs,
                                           Tensor input) override;
    std::shared_ptr<Work> barrier_async() override;
    void shutdown() override;

    /// Leaves at once because this rank failed; the others get PeerLost with `reason`.
    void abandon(const std::string& reason);

  private:
    struct Task;
    enum class When { kAfterQueue, kNow };

    std::shared_ptr<Work> enqueue(Collective collective, size_t payload_bytes,
                                  std::function<void()> body);
    void check_tensor(const char* operation, const Tensor& tensor) const;
    void run();
    std::shared_ptr<Task> next_task();
    void execute(Task& task);
    void finish(Task& task, std::optional<Failure> failure);
    void abandon_tasks(const std::deque<std::shared_ptr<Task>>& tasks) const;
    void stop(const Failure& reason, When when);

    const std::string backend_;
    const std::unique_ptr<Transport> transport_;
    const std::chrono::milliseconds timeout_;
    EventLog events_;

    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::shared_ptr<Task>> queue_;
    uint64_t next_sequence_ = 0;
    bool running_ = false;
    bool closing_ = false;
    std::optional<Failure> failure_;  // the first one
    std::mutex stop_mutex_;
    std::thread thread_;
};

}  // namespace mini::dist
