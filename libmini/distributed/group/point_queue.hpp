// Point-to-point messages that wait for the backend. Messages are not ordered with
// collectives: each message goes to the backend as soon as its tensor is ready. A tensor
// on a GPU is ready when its copy is on the host. A message may overtake an earlier
// message that is not ready, unless both have the same direction, tag and peer.

#pragma once

#include <deque>

#include "libmini/distributed/group/task.hpp"

namespace mini::dist {

/// Not thread-safe: the group's mutex guards it.
class PointQueue {
  public:
    void push(const TaskHandle& task) { waiting_.push_back(task); }
    bool is_empty() const { return waiting_.empty(); }

    /// Removes and returns the messages whose tensors are ready, in call order.
    std::deque<TaskHandle> take_ready();

    /// Returns the messages that are not ready.
    const std::deque<TaskHandle>& waiting() const { return waiting_; }

    /// Removes and returns all messages in the queue.
    std::deque<TaskHandle> take_all();

  private:
    std::deque<TaskHandle> waiting_;
};

}  // namespace mini::dist
