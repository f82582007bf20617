// Messages from point to point on their way to the backend. They have no place in the order
// of collectives: each goes to the backend as soon as the GPU, if it is on one, has reached
// its tensor. A message that is not ready may be overtaken, except by messages that it must
// precede.

#pragma once

#include <deque>

#include "libmini/distributed/group/task.hpp"

namespace mini::dist {

/// Not thread-safe: the group's mutex guards it.
class PointQueue {
  public:
    void push(const TaskHandle& task) { waiting_.push_back(task); }
    bool is_empty() const { return waiting_.empty(); }

    /// Takes the messages whose tensors are ready, in the order of their calls.
    std::deque<TaskHandle> take_ready();

    /// The messages that are not ready.
    const std::deque<TaskHandle>& waiting() const { return waiting_; }

    /// Empties the queue and returns what was in it.
    std::deque<TaskHandle> take_all();

  private:
    std::deque<TaskHandle> waiting_;
};

}  // namespace mini::dist
