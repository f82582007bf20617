#include "libmini/distributed/backends/verify.hpp"
#include "libmini/core/text.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "libmini/core/text.hpp"

namespace mini::dist {
namespace {

constexpr std::chrono::milliseconds kGoodbyeTime(3000);

// So often a rank looks for answers, however long it took to get a core: a transport does
// not ask the kernel each time whether a connection has closed.
constexpr int kLeastLooks = 50;

// In turn(): run() finds the rank to name.
class DeadlinePassed : public Timeout {
  public:
    using Timeout::Timeout;
};

std::span<std::byte> bytes_of(Collective& collective) {
    return std::as_writable_bytes(std::span(&collective, 1));
}

// How long to wait for the answers of ranks, which may be slow to get a core: a twentieth
// of the timeout, within bounds.
std::chrono::milliseconds grace_of(std::chrono::milliseconds timeout) {
    return std::clamp(timeout / 20, std::chrono::milliseconds(500),
                      std::chrono::milliseconds(1000));
}

}  // namespace

VerifyingBackend::VerifyingBackend(std::unique_ptr<GroupTransport> side, bool verify)
    : side_(std::move(side)),
      verify_(verify),
      sent_(static_cast<size_t>(side_->world_size())),
      received_(sent_.size()),
      questions_(sent_.size()),
      goodbyes_(sent_.size()) {
    if (world_size() == 1) return;
    listen();
    each_peer([this](int peer, size_t i) {
        post_note(goodbyes_[i].hear, PointMessage::Direction::kRecv, peer, kGoodbyeTag);
    });
}

VerifyingBackend::~VerifyingBackend() = default;

template <typename Visit>
void VerifyingBackend::each_peer(const Visit& visit) const {
    for (int peer = 0; peer < world_size(); ++peer)
        if (peer != rank()) visit(peer, static_cast<size_t>(peer));
}

void VerifyingBackend::post_note(PointMessage& note, PointMessage::Direction direction,
                                 int peer, uint64_t tag) {
    note.direction = direction;
    note.peer = peer;
    note.tag = tag;
    note.dtype = DType::kUInt8;
    note.deadline = kNever;  // the wait for it has one
    note.done = false;
    side_->post(note);
}

// ---- collectives

void VerifyingBackend::run(const Call& call, const Collective& collective,
                           std::chrono::milliseconds timeout) {
    const bool has_work =
        collective.count > 0 || collective.operation == Operation::kBarrier;
    guard(collective, timeout, [&](Deadline deadline) {
        if (has_work) transfer(call, deadline);
    });
}

void VerifyingBackend::launch(GpuCollective& collective) {
    guard(collective.collective, collective.timeout,
          [&](Deadline /*deadline*/) { issue(collective); });
}

// Begins a collective; what goes wrong in `body` gets the names of those to blame.
template <typename Body>
void VerifyingBackend::guard(const Collective& collective,
                             std::chrono::milliseconds timeout, const Body& body) {
    const Deadline deadline = deadline_after(timeout);
    current_ = collective;
    timeout_ = timeout;
    side_->begin(collective, timeout);
    try {
        if (verify_ && world_size() > 1) agree(collective, deadline);
        body(deadline);
    } catch (const DeadlinePassed&) {
        has_failed_ = true;
        throw_silence(timeout, concat("in ", describe(collective)));
    } catch (const Error&) {  // says what it is
        has_failed_ = true;
        throw;
    } catch (const std::exception& error) {
        has_failed_ = true;
        throw_library_failure(describe(collective), error.what());
    }
}

// Tells every rank what this one is about to run, and waits until each has told it.
void VerifyingBackend::agree(const Collective& collective, Deadline deadline) {
    each_peer([&](int peer, size_t i) {
        sent_[i].collective = collective;
        sent_[i].message.data = bytes_of(sent_[i].collective);
        received_[i].message.data = bytes_of(received_[i].collective);
        post_note(sent_[i].message, PointMessage::Direction::kSend, peer,
                  kFingerprintTag);
        post_note(received_[i].message, PointMessage::Direction::kRecv, peer,
                  kFingerprintTag);
    });
    const auto all_done = [this] {
        bool done = true;
        each_peer([&](int peer, size_t i) {
            done &= sent_[i].message.done && received_[i].message.done;
            if (goodbyes_[i].hear.done && !received_[i].message.done) throw_left(peer);
        });
        return done;
    };
    wait_until(all_done, deadline);

    CollectiveHistory history;
    history.begin(collective);
    each_peer([&](int peer, size_t i) {
        history.check_same(rank(), peer, received_[i].collective);
    });
}

// What a rank says last comes last: it will not run this any more.
void VerifyingBackend::throw_left(int peer) const {
    throw PeerLost(peer, concat("rank ", peer, " left the group; rank ", rank(),
                                " was in ", describe(current_)));
}

// ---- messages from point to point

void VerifyingBackend::post(PointMessage& message) {
    const std::optional<uint64_t> largest = largest_tag();
    if (largest && message.tag <= *largest) return post_to_library(message);
    on_side_.push_back(&message);
    message.finished = [this, &message, finished = std::move(message.finished)] {
        on_side_.remove(&message);
        ++finished_on_side_;
        finished();
    };
    side_->post(message);
}

// Of the messages over the side channel, how many became done.
size_t VerifyingBackend::finish_on_side() {
    for (const PointMessage* message : on_side_)
        if (has_passed(message->deadline)) throw_silence(*message);
    return std::exchange(finished_on_side_, 0);
}

// ---- waiting

size_t VerifyingBackend::turn(Deadline deadline) {
    if (is_woken_.exchange(false) && on_wake_) on_wake_();
    MINI_CHECK(!is_interrupted_, "the group was destroyed during ", describe(current_));
    poll_side();
    const size_t finished = move_points() + finish_on_side();
    if (has_passed(deadline)) throw DeadlinePassed("the deadline has passed");
    return finished;
}

void VerifyingBackend::poll_side() {
    if (world_size() == 1 || std::exchange(is_side_broken_, true)) return;
    side_->poll();
    is_side_broken_ = false;  // it has not thrown
}

void VerifyingBackend::attend() noexcept {
    try {
        poll_side();
    } catch (...) {  // what is wrong is known already
    }
}

void VerifyingBackend::progress() {
    try {
        for (int turns = 0; !is_woken_; ++turns) {
            if (turn(kNever) > 0) return;
            pause(turns);
        }
        turn(kNever);
    } catch (...) {
        has_failed_ = true;
        throw;
    }
}

void VerifyingBackend::set_on_wake(std::function<void()> on_wake) {
    on_wake_ = std::move(on_wake);
}

// ---- which ranks are there

// Answers the roll call of other ranks, whenever this rank waits for anything.
void VerifyingBackend::listen() {
    any_question_.finished = [this] { answer(); };
    post_note(any_question_, PointMessage::Direction::kRecv, kAnySource, kAskTag);
}

void VerifyingBackend::answer() {
    const int peer = any_question_.source;
    post_note(questions_[static_cast<size_t>(peer)].answer,
              PointMessage::Direction::kSend, peer, kHereTag);
    listen();
}

// The library seldom says which rank is gone: find it.
void VerifyingBackend::throw_library_failure(const std::string& activity,
                                             const std::string& message) {
    const std::vector<int> silent = silent_ranks(timeout_);
    throw Error(concat(activity, " failed in ", name(), ": ", message,
                       silent.empty() ? "; all ranks are there"
                                      : concat("; no answer from ", rank_list(silent))));
}

void VerifyingBackend::throw_silence(std::chrono::milliseconds waited,
                                     const std::string& activity) {
    const std::vector<int> silent = silent_ranks(waited);
    const std::string who =
        silent.empty()
            ? "all ranks are there, but slow"
            : concat(rank_list(silent), silent.size() == 1 ? " is " : " are ",
                     "silent: is ", silent.size() == 1 ? "its process" : "each process",
                     " stopped, stuck, or in other code?");
    throw Timeout(concat("rank ", rank(), " waited ", seconds_text(waited), " ", activity,
                         "; ", who));
}

void VerifyingBackend::throw_silence(const PointMessage& message) {
    throw_silence(message.timeout, concat("in ", describe(message)));
}

// The ranks that do not answer. Throws PeerLost for one that is gone, and what another
// one has found out.
std::vector<int> VerifyingBackend::silent_ranks(std::chrono::milliseconds waited) {
    each_peer([this](int peer, size_t i) {
        post_note(questions_[i].hear, PointMessage::Direction::kRecv, peer, kHereTag);
        post_note(questions_[i].ask, PointMessage::Direction::kSend, peer, kAskTag);
    });
    const auto silent = [this] {
        std::vector<int> ranks;
        each_peer([&](int peer, size_t i) {
            if (!questions_[i].hear.done) ranks.push_back(peer);
        });
        return ranks;
    };
    const Deadline grace = deadline_after(grace_of(waited));
    const auto goes_on = [&](int turns) {
        return (turns < kLeastLooks || !has_passed(grace)) && !silent().empty();
    };
    for (int turns = 0; goes_on(turns); ++turns) {
        poll_side();
        pause(turns);
    }
    return silent();
}

// ---- leaving

// The library may cut off what the others have not read yet: leave together. Whether all
// do.
bool VerifyingBackend::say_goodbye() {
    each_peer([this](int peer, size_t i) {
        post_note(goodbyes_[i].say, PointMessage::Direction::kSend, peer, kGoodbyeTag);
    });
    const auto all_heard = [this] {
        return std::ranges::count_if(goodbyes_, [](const Goodbye& goodbye) {
                   return goodbye.hear.done && goodbye.say.done;
               }) == world_size() - 1;
    };
    const Deadline deadline = deadline_after(kGoodbyeTime);
    for (int turns = 0; !all_heard() && !has_passed(deadline); ++turns) {
        poll_side();
        pause(turns);
    }
    return all_heard();
}

void VerifyingBackend::leave(const Failure& reason) noexcept {
    if (std::exchange(has_left_, true)) return;
    Failure final_reason = reason;
    bool together = false;
    try {
        const bool is_orderly =
            reason.kind == Failure::Kind::kPeerLost && reason.rank == rank();
        if (!has_failed() && is_orderly) together = say_goodbye();
    } catch (...) {  // another rank has gone: ranks that still wait are told which
        final_reason = current_failure();
    }
    if (together) part();
    side_->leave(final_reason);
    abandon();
}

}  // namespace mini::dist
