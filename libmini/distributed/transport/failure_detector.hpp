// FailureDetector: notices that another rank is lost, and finds the rank to name in the
// error: if possible, the same rank on all ranks.
//
//     FailureDetector                     in each rank: a connection closed, or a deadline
//     blame() (blame.hpp)                 it calls this when a deadline has passed
//     root_cause() (net/root_cause.hpp)   in the launcher, which sees how processes ended
//
// The transport reports events to the detector. The detector reads the failures that
// other ranks reported before their connections closed, and throws. A rank that detects a
// failure reports the failure to all other ranks before it leaves, so that they do not
// wait for their deadlines, and all ranks name the same cause:
//
//     a rank that ...    is detected by             and causes
//     is gone            its closed connections     PeerLost, first on the ranks that wait
//                                                   for a message from it
//     is silent          the deadline               Timeout, see blame.hpp
//     runs another       the header of its first    MismatchedCollective on both ranks
//     collective         message

#pragma once

#include <atomic>
#include <chrono>
#include <string>
#include <vector>

#include "libmini/distributed/transport/message_stream.hpp"

namespace mini::dist {

class FailureDetector {
  public:
    /// `streams` is indexed by rank; the stream of `rank` itself is not open. REQUIRES:
    /// both references outlive this object.
    FailureDetector(int rank, std::vector<MessageStream>& streams,
                    const CollectiveHistory& history);

    /// Records for which rank the sender of a message waits: header.rank in a notice; a
    /// message of a collective ends the wait.
    void note_waiting(int sender, const MessageHeader& header);

    /// Handles a closed connection to rank `peer`: throws the failure that `peer` has
    /// reported (a Timeout as deadline_passed() does, and as long, for the rank it names), or
    /// PeerLost naming `peer`. If the connection closed in the middle of a message,
    /// PeerLost names the rank that was lost first. Blocks for at most 350 ms otherwise.
    [[noreturn]] void connection_closed(int peer, std::chrono::milliseconds timeout);

    /// Handles a wait for rank `silent` that has reached its deadline; `description`
    /// describes the wait. Leaves, so that the other ranks learn of it, then throws the
    /// result of blame(). Blocks for at most a twentieth of `timeout`. If `silent` is -1
    /// (any rank), throws Timeout immediately.
    [[noreturn]] void deadline_passed(int silent, const std::string& description,
                                      std::chrono::milliseconds timeout);

    /// Reports `reason` to all ranks and shuts down the sending side of each connection.
    /// A second call does nothing. Never blocks for long.
    void leave(const Failure& reason) noexcept;

    /// Makes connection_closed() and deadline_passed(), in another thread, end early. Closes
    /// the connections if leave() has sent its report over them. Thread-safe.
    void interrupt() noexcept;
    bool is_interrupted() const noexcept { return is_interrupted_; }

  private:
    MessageStream& stream(int rank) { return streams_[static_cast<size_t>(rank)]; }
    int world_size() const { return static_cast<int>(streams_.size()); }
    int first_lost_rank(int cut_off, std::chrono::milliseconds timeout);
    [[noreturn]] void throw_reported(int reporter, const Failure& failure,
                                     std::chrono::milliseconds timeout);

    const int rank_;
    std::vector<MessageStream>& streams_;
    const CollectiveHistory& history_;
    std::vector<MessageHeader> waiting_;  // by sender: its last notice or message
    bool has_left_ = false;
    std::atomic<bool> has_reported_ = false;
    std::atomic<bool> is_interrupted_ = false;
};

}  // namespace mini::dist
