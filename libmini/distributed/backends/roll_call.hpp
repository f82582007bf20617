// Roll call: finds the ranks that do not reply, which the library that moves the data
// does not report.
//
//     rank 0    question ------> rank 1 waits in an operation: replies
//               question ------> rank 2 is stopped: no reply in time, it is silent
//
// Questions and replies travel over a mesh beside the library. A rank replies while it
// waits in the group; a rank that computes, or is stopped, does not.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Posts `note` to or from `peer`. It has no deadline; the wait for it has one. REQUIRES:
/// note.data is set.
void post_note(GroupTransport& side, PointMessage& note,
               PointMessage::Direction direction, int peer, uint64_t tag);

class RollCall {
  public:
    /// Replies to other ranks from now on, whenever `side` moves its messages. REQUIRES:
    /// `side` outlives this object.
    explicit RollCall(GroupTransport& side);

    /// Asks all other ranks; returns the ranks that do not reply. Blocks until all have
    /// replied, for at most waited / 20, clamped to 0.5 .. 1 s. Calls `make_progress` to
    /// move the messages of the side channel; its exceptions end the roll call.
    std::vector<int> silent_ranks(std::chrono::milliseconds waited,
                                  const std::function<void()>& make_progress);

  private:
    // Our question to another rank, its reply, and our reply to its question.
    struct Question {
        PointMessage ask, hear, answer;
    };

    void listen();
    void answer();
    std::vector<int> unanswered() const;

    GroupTransport& side_;
    std::vector<Question> questions_;  // by rank
    PointMessage any_question_;
};

}  // namespace mini::dist
