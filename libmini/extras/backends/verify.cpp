#include "libmini/extras/backends/verify.hpp"

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <exception>
#include <functional>
#include <span>
#include <string>
#include <utility>

#include "libmini/core/text.hpp"
#include "libmini/distributed/backends/subgroup_mesh.hpp"
#include "libmini/distributed/group/subgroup.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"

namespace mini::dist {
namespace {

constexpr std::chrono::milliseconds kGoodbyeTime(3000);

// Thrown by poll_once(); guard() replaces it by an exception that names the silent rank.
class DeadlinePassed : public Timeout {
  public:
    using Timeout::Timeout;
};

std::span<std::byte> bytes_of(Collective& collective) {
    return std::as_writable_bytes(std::span(&collective, 1));
}

std::string silence_text(const std::vector<int>& silent) {
    return concat(rank_list(silent), silent.size() == 1 ? " is " : " are ", "silent: is ",
                  silent.size() == 1 ? "its process" : "each process",
                  " stopped, stuck, or in other code?");
}

}  // namespace

VerifyingBackend::VerifyingBackend(SideChannel side)
    : side_(std::move(side)),
      sent_(static_cast<size_t>(world_size())),
      received_(sent_.size()),
      goodbyes_(sent_.size()),
      roll_call_(*side_.transport) {
    each_peer([this](int peer, size_t i) {
        post_note(goodbyes_[i].hear, PointMessage::Direction::kRecv, peer, kGoodbyeTag);
    });
}

VerifyingBackend::~VerifyingBackend() = default;

std::optional<SideChannel> VerifyingBackend::side_of(const std::vector<int>& ranks,
                                                     ProcessGroup& parent) const {
    auto mesh = connect_members(ranks, parent, side_.cookie, side_.local_host);
    if (!mesh) return std::nullopt;
    return SideChannel{.transport = std::make_unique<MeshTransport>(
                           index_among(ranks, parent), std::move(mesh->streams)),
                       .verify = side_.verify,
                       .hosts = std::move(mesh->hosts),
                       .cookie = side_.cookie,
                       .local_host = side_.local_host};
}

template <typename Visit>
void VerifyingBackend::each_peer(const Visit& visit) const {
    for (int peer = 0; peer < world_size(); ++peer)
        if (peer != rank()) visit(peer, static_cast<size_t>(peer));
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

// Begins a collective, compares the fingerprints, and runs `body`. Throws an error that
// names the ranks that caused the failure.
template <typename Body>
void VerifyingBackend::guard(const Collective& collective,
                             std::chrono::milliseconds timeout, const Body& body) {
    const Deadline deadline = deadline_after(timeout);
    current_ = collective;
    timeout_ = timeout;
    side_.transport->begin(collective, timeout);
    try {
        if (side_.verify && world_size() > 1) agree(collective, deadline);
        body(deadline);
    } catch (const DeadlinePassed&) {
        has_failed_ = true;
        throw_silence(timeout, concat("in ", describe(collective)));
    } catch (const Error&) {  // the message names the ranks already
        has_failed_ = true;
        throw;
    } catch (const std::exception& error) {
        has_failed_ = true;
        throw_library_failure(describe(collective), error.what());
    }
}

// Sends the collective to every other rank, receives the collective of every other rank,
// and throws MismatchedCollective unless all are equal. sent_[i] and received_[i] are
// the fingerprints to and from rank i.
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
    wait_until([this] { return have_fingerprints_arrived(); }, deadline);
    CollectiveHistory history;
    history.begin(collective);
    each_peer([&](int peer, size_t i) {
        history.check_same(rank(), peer, received_[i].collective);
    });
}

// Returns whether all fingerprints are sent and received. Throws PeerLost if a rank has
// left instead of sending its fingerprint.
bool VerifyingBackend::have_fingerprints_arrived() const {
    bool done = true;
    each_peer([&](int peer, size_t i) {
        done &= sent_[i].message.done && received_[i].message.done;
        if (goodbyes_[i].hear.done && !received_[i].message.done) throw_left(peer);
    });
    return done;
}

// Throws PeerLost for a peer that has sent its goodbye: that peer will not run this
// collective.
void VerifyingBackend::throw_left(int peer) const {
    throw PeerLost(peer, concat("rank ", peer, " left the group; rank ", rank(),
                                " was in ", describe(current_)));
}

// ---- point-to-point messages

void VerifyingBackend::post(PointMessage& message) {
    messages_.push_back(&message);
    message.finished = [this, &message, finished = std::move(message.finished)] {
        messages_.remove(&message);
        ++finished_messages_;
        finished();
    };
    side_.transport->post(message);
}

// Returns how many messages have finished since the last call. Throws if a message's
// deadline has passed.
size_t VerifyingBackend::finish_messages() {
    for (const PointMessage* message : messages_)
        if (has_passed(message->deadline))
            throw_silence(message->timeout, concat("in ", describe(*message)));
    return std::exchange(finished_messages_, 0);
}

// ---- waiting

size_t VerifyingBackend::poll_once(Deadline deadline) {
    if (is_woken_.exchange(false) && on_wake_) on_wake_();
    MINI_CHECK(!is_interrupted_, "the group was destroyed during ", describe(current_));
    poll_side();
    const size_t finished = finish_on_gpu() + finish_messages();
    if (has_passed(deadline)) throw DeadlinePassed("the deadline has passed");
    return finished;
}

void VerifyingBackend::wait_for_ranks(const std::function<bool()>& done,
                                      std::chrono::milliseconds timeout,
                                      const std::string& activity) {
    try {
        wait_until(done, deadline_after(timeout));
    } catch (const DeadlinePassed&) {
        throw_silence(timeout, activity);
    }
}

void VerifyingBackend::poll_side() {
    if (world_size() == 1 || std::exchange(is_side_broken_, true)) return;
    side_.transport->poll();
    is_side_broken_ = false;  // not reached if poll() throws
}

void VerifyingBackend::answer_roll_call() noexcept {
    try {
        poll_side();
    } catch (...) {  // this rank already reports a failure
    }
}

void VerifyingBackend::progress() {
    try {
        for (int polls = 0; !is_woken_; ++polls) {
            if (poll_once(kNever) > 0) return;
            pause(polls);
        }
        poll_once(kNever);
    } catch (...) {
        has_failed_ = true;
        throw;
    }
}

void VerifyingBackend::set_on_wake(std::function<void()> on_wake) {
    on_wake_ = std::move(on_wake);
}

// ---- which ranks reply

// A library seldom reports which rank is lost, so make a roll call. The library may fail
// on this rank because another rank has thrown Timeout for a silent rank; then throw
// Timeout on this rank too.
void VerifyingBackend::throw_library_failure(const std::string& activity,
                                             const std::string& message) {
    const std::vector<int> silent = silent_ranks(timeout_);
    const std::string text = concat(activity, " failed in ", name(), ": ", message, "; ");
    if (silent.empty()) throw Error(text, "all ranks replied");
    throw Timeout(concat(text, silence_text(silent)));
}

void VerifyingBackend::throw_silence(std::chrono::milliseconds waited,
                                     const std::string& activity) {
    const std::vector<int> silent = silent_ranks(waited);
    const std::string who =
        silent.empty() ? "all ranks reply, but are slow" : silence_text(silent);
    throw Timeout(concat("rank ", rank(), " waited ", seconds_text(waited), " ", activity,
                         "; ", who));
}

// Returns the ranks that do not reply. Throws PeerLost for a lost rank, and the failure
// that another rank reports.
std::vector<int> VerifyingBackend::silent_ranks(std::chrono::milliseconds waited) {
    return roll_call_.silent_ranks(waited, [this] { poll_side(); });
}

// ---- leaving

// Waits until all ranks leave, because the library may discard data that the other ranks
// have not read yet. Returns whether all ranks leave; false after kGoodbyeTime.
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
    for (int polls = 0; !all_heard() && !has_passed(deadline); ++polls) {
        poll_side();
        pause(polls);
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
    } catch (...) {  // a rank is lost: report it to the ranks that wait
        final_reason = current_failure();
    }
    if (together) part();
    side_.transport->leave(final_reason);
    abandon();
}

}  // namespace mini::dist
