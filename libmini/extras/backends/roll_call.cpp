#include "libmini/extras/backends/roll_call.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "libmini/distributed/net/clock.hpp"
#include "libmini/distributed/transport/tags.hpp"

namespace mini::dist {
namespace {

// The minimum number of polls for replies, also after the time is over: this rank may
// have waited long for a core, and a transport does not check at each poll whether a
// connection has closed.
constexpr int kMinPolls = 50;

// Returns how long to wait for replies. A rank that is not stopped may still need some
// time to get a core.
std::chrono::milliseconds grace_of(std::chrono::milliseconds waited) {
    return std::clamp(waited / 20, std::chrono::milliseconds(500),
                      std::chrono::milliseconds(1000));
}

}  // namespace

void post_note(GroupTransport& side, PointMessage& note,
               PointMessage::Direction direction, int peer, uint64_t tag) {
    note.direction = direction;
    note.peer = peer;
    note.tag = tag;
    note.dtype = DType::kUInt8;
    note.deadline = kNever;
    note.done = false;
    side.post(note);
}

RollCall::RollCall(GroupTransport& side)
    : side_(side), questions_(static_cast<size_t>(side.world_size())) {
    if (side.world_size() > 1) listen();
}

void RollCall::listen() {
    any_question_.finished = [this] { answer(); };
    post_note(side_, any_question_, PointMessage::Direction::kRecv, kAnySource, kAskTag);
}

void RollCall::answer() {
    const int peer = any_question_.source;
    post_note(side_, questions_[static_cast<size_t>(peer)].answer,
              PointMessage::Direction::kSend, peer, kHereTag);
    listen();
}

std::vector<int> RollCall::silent_ranks(std::chrono::milliseconds waited,
                                        const std::function<void()>& make_progress) {
    for (int peer = 0; peer < side_.world_size(); ++peer) {
        if (peer == side_.rank()) continue;
        Question& question = questions_[static_cast<size_t>(peer)];
        post_note(side_, question.hear, PointMessage::Direction::kRecv, peer, kHereTag);
        post_note(side_, question.ask, PointMessage::Direction::kSend, peer, kAskTag);
    }
    const Deadline grace = deadline_after(grace_of(waited));
    for (int polls = 0; !unanswered().empty(); ++polls) {
        if (polls >= kMinPolls && has_passed(grace)) break;
        make_progress();
        pause(polls);
    }
    return unanswered();
}

std::vector<int> RollCall::unanswered() const {
    std::vector<int> ranks;
    for (int peer = 0; peer < side_.world_size(); ++peer)
        if (peer != side_.rank() && !questions_[static_cast<size_t>(peer)].hear.done)
            ranks.push_back(peer);
    return ranks;
}

}  // namespace mini::dist
