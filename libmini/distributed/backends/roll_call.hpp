// Which ranks are there: what a library that moves the data does not know.
//
//     rank 0    are you there? ------> rank 1, which waits for something: here I am
//               are you there? ------> rank 2, which is stopped
//                                      no answer within the grace: rank 2 is silent
//
// Questions and answers travel over a mesh beside the library. A rank answers while it waits in
// the group; one that computes, or is stopped, does not.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Posts `note`, whose data is set, to or from `peer`. It has no deadline: the wait for it has.
void post_note(GroupTransport& side, PointMessage& note,
               PointMessage::Direction direction, int peer, uint64_t tag);

class RollCall {
  public:
    /// Answers other ranks from now on, whenever `side`, which must outlive this, moves
    /// its messages.
    explicit RollCall(GroupTransport& side);

    /// Asks all other ranks; returns those that do not answer. Blocks, for a twentieth of
    /// `waited` but half a second at least and a second at most, and calls `move_on` to
    /// move the messages of the side; what that throws ends it.
    std::vector<int> silent_ranks(std::chrono::milliseconds waited,
                                  const std::function<void()>& move_on);

  private:
    // "Are you there?" to another rank, what it says, and what it is told when it asks.
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
