// The failure detector of a mesh: which rank caused a failure, as all ranks will name it.
//
// The transport reports facts; the detector reads what the other ranks reported before their
// connections closed, and throws. The rank that notices a failure tells all others before
// it leaves, so that they need not wait for their deadlines and all name the same cause:
//
//     a rank ...          is noticed by                      and becomes
//     died                its connections, which close       PeerLost, first next to it
//     is silent           the deadline, which passes         Timeout. If the silent rank
//                                                            waits for another rank, the
//                                                            detector follows that chain.
//     runs another        the header of its first message    MismatchedCollective on both
//     collective

#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "libmini/distributed/transport/message_stream.hpp"

namespace mini::dist {

class FailureDetector {
  public:
    /// `streams` by rank, `rank`'s own not open; both references outlive this.
    FailureDetector(int rank, std::vector<MessageStream>& streams,
                    const CollectiveHistory& history);

    /// Rank `waiting` says which rank it waits for, and in which collective.
    void note_waiting(int waiting, const MessageHeader& header);

    /// The connection to rank `peer` has closed. Throws the failure that it reported, else
    /// PeerLost naming it or, when it was cut off in the middle of a message, the rank that
    /// is gone. `timeout` is that of the collective.
    [[noreturn]] void connection_closed(int peer, std::chrono::milliseconds timeout);

    /// A wait for rank `silent` has reached its deadline; `story` says which wait. Leaves,
    /// then throws Timeout naming the rank at the end of the chain of ranks that wait for
    /// each other, or PeerLost. Blocks for a twentieth of `timeout` at most.
    [[noreturn]] void deadline_passed(int silent, const std::string& story,
                                      std::chrono::milliseconds timeout);

    /// Reports `reason` to all ranks and ends the sending half of each connection; does
    /// nothing the second time. Never blocks for long.
    void leave(const Failure& reason) noexcept;

  private:
    // What a rank has said of itself.
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
    [[noreturn]] void follow_chain(int silent, std::string story, Deadline grace);

    const int rank_;
    std::vector<MessageStream>& streams_;
    const CollectiveHistory& history_;
    std::vector<Waiting> waiting_;  // by rank
    bool has_left_ = false;
};

}  // namespace mini::dist
