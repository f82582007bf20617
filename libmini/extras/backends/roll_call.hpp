// Roll call: finds the silent ranks, because the library that moves the data does not
// report them.
//
//     rank 0    question ------> rank 1 waits in an operation: it replies
//               question ------> rank 2 is stopped: no reply in time, so rank 2 is silent
//
// Questions and replies travel over the side channel (verify.hpp). A rank replies while
// it waits in the group; a rank that computes, or is stopped, does not reply.

#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <vector>

#include "libmini/distributed/transport/transport.hpp"

namespace mini::dist {

/// Posts the message `note` to or from `peer` without a deadline: the caller must limit
/// the wait for it. Sets note.done to false: a note may be posted again once it is done.
/// REQUIRES: note.data is set; it and `note` live until the message is done.
void post_note(GroupTransport& side, PointMessage& note,
               PointMessage::Direction direction, int peer, uint64_t tag);

class RollCall {
  public:
    /// Replies to the questions of other ranks from now on, whenever `side` makes
    /// progress. REQUIRES: `side` outlives this object.
    explicit RollCall(GroupTransport& side);

    /// Asks all other ranks and returns the ranks that do not reply. Blocks until all
    /// have replied, for about `waited` / 20 at most, clamped to 0.5 .. 1 s. `waited`:
    /// how long this rank has waited in its operation. Calls `make_progress` repeatedly
    /// to move the messages of the side channel; rethrows the exceptions of
    /// `make_progress`.
    std::vector<int> silent_ranks(std::chrono::milliseconds waited,
                                  const std::function<void()>& make_progress);

  private:
    // This rank's question to another rank, the reply of that rank, and this rank's reply
    // to a question of that rank.
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
