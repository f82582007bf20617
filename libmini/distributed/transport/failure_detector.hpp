// The failure detector of a mesh: finds the rank that caused a failure, the same on all
// ranks.
//
// The transport reports events; the detector reads the failures that the other ranks
// reported before their connections closed, and throws. A rank that detects a failure
// reports it to all others before it leaves, so that they do not wait for their deadlines
// and all name the same cause:
//
//     a rank ...          is detected by                     and becomes
//     died                its closed connections             PeerLost, first on its peers
//     is silent           the deadline                       Timeout. If the silent rank
//                                                            waits for another rank, the
//                                                            detector follows that chain.
//     runs another        the header of its first message    MismatchedCollective on both
//     collective                                             ranks

#pragma once

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

    /// Records that rank `waiting` waits for a rank in a collective, both given by
    /// `header`.
    void note_waiting(int waiting, const MessageHeader& header);

    /// To be called when the connection to rank `peer` has closed. Throws the failure
    /// that `peer` reported; else PeerLost naming `peer` or, if the connection closed in
    /// the middle of a message, the rank that was lost first. `timeout` is the
    /// collective's timeout.
    [[noreturn]] void connection_closed(int peer, std::chrono::milliseconds timeout);

    /// To be called when a wait for rank `silent` has reached its deadline; `description`
    /// describes the wait. Leaves, then throws PeerLost, or Timeout naming the rank at
    /// the end of the chain of ranks that wait for each other. Blocks for at most a
    /// twentieth of `timeout`.
    [[noreturn]] void deadline_passed(int silent, const std::string& description,
                                      std::chrono::milliseconds timeout);

    /// Reports `reason` to all ranks and shuts down the sending side of each connection.
    /// A second call does nothing. Never blocks for long.
    void leave(const Failure& reason) noexcept;

  private:
    // The rank that another rank waits for, as it reported.
    struct Waiting {
        int awaited = -1;
        Collective collective;
    };

    MessageStream& stream(int rank) { return streams_[static_cast<size_t>(rank)]; }
    int world_size() const { return static_cast<int>(streams_.size()); }
    int first_to_go(int cut_off, std::chrono::milliseconds timeout);
    int awaited_by(int waiting) const;
    [[noreturn]] void report_of(int reporter, const Failure& failure,
                                std::chrono::milliseconds timeout);
    [[noreturn]] void follow_chain(int silent, std::string description, Deadline grace);

    const int rank_;
    std::vector<MessageStream>& streams_;
    const CollectiveHistory& history_;
    std::vector<Waiting> waiting_;  // by rank
    bool has_left_ = false;
};

}  // namespace mini::dist
