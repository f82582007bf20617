#include "libmini/dist/threads_transport.hpp"

#include <cstring>

namespace mini::dist {

ThreadsHub::ThreadsHub(int world_size)
    : mailboxes_(static_cast<size_t>(world_size) * static_cast<size_t>(world_size)),
      ranks_(static_cast<size_t>(world_size)) {}

ThreadsTransport::ThreadsTransport(std::shared_ptr<ThreadsHub> hub, int rank)
    : hub_(std::move(hub)), rank_(rank) {}

ThreadsTransport::~ThreadsTransport() {
    leave({Failure::Kind::kPeerLost, rank_, concat("rank ", rank_, " left the group")});
}

void ThreadsTransport::begin(const Collective& collective,
                             std::chrono::milliseconds timeout) {
    history_.begin(collective);
    timeout_ = timeout;
    deadline_ = deadline_after(timeout);
}

void ThreadsTransport::send_recv(int to, std::span<const std::byte> out, int from,
                                 std::span<std::byte> in) {
    Lock lock(hub_->mutex_);
    post(to, out);
    try {
        take(from, in, lock);
    } catch (...) {
        withdraw(to, lock);
        throw;
    }
    await_receipt(to, lock);
}

void ThreadsTransport::send(int to, std::span<const std::byte> out) {
    Lock lock(hub_->mutex_);
    post(to, out);
    await_receipt(to, lock);
}

void ThreadsTransport::recv(int from, std::span<std::byte> in) {
    Lock lock(hub_->mutex_);
    take(from, in, lock);
}

void ThreadsTransport::post(int to, std::span<const std::byte> out) {
    ThreadsHub::Mailbox& box = hub_->mailbox(rank_, to);
    box = {BoxState::kPosted, history_.current(), out};
    bytes_sent_ += out.size();
    hub_->changed_.notify_all();
}

// The bytes are the caller's: it must not return while somebody copies them.
void ThreadsTransport::withdraw(int to, Lock& lock) {
    ThreadsHub::Mailbox& box = hub_->mailbox(rank_, to);
    hub_->changed_.wait(lock, [&] { return box.state != BoxState::kCopying; });
    box.state = BoxState::kEmpty;
}

void ThreadsTransport::await_receipt(int to, Lock& lock) {
    const ThreadsHub::Mailbox& box = hub_->mailbox(rank_, to);
    try {
        wait_until([&] { return box.state == BoxState::kEmpty; }, to, lock);
    } catch (...) {
        withdraw(to, lock);
        throw;
    }
}

void ThreadsTransport::take(int from, std::span<std::byte> in, Lock& lock) {
    ThreadsHub::Mailbox& box = hub_->mailbox(from, rank_);
    wait_until([&] { return box.state == BoxState::kPosted; }, from, lock);
    history_.check_same(rank_, from, box.collective);
    MINI_CHECK(box.payload.size() == in.size(), "rank ", from, " sent ",
               box.payload.size(), " bytes where rank ", rank_, " expects ", in.size(),
               " in ", describe(history_.current()));

    // Copy without holding up the others.
    box.state = BoxState::kCopying;
    lock.unlock();
    if (!in.empty()) std::memcpy(in.data(), box.payload.data(), in.size());
    lock.lock();
    box.state = BoxState::kEmpty;
    hub_->changed_.notify_all();
}

// Waits for `peer` to make `condition` true; notices when it, or this rank, has left.
template <typename Condition>
void ThreadsTransport::wait_until(Condition condition, int peer, Lock& lock) {
    ThreadsHub::Rank& me = hub_->ranks_[static_cast<size_t>(rank_)];
    const ThreadsHub::Rank& other = hub_->ranks_[static_cast<size_t>(peer)];
    me.waits_for = peer;
    const bool woken = hub_->changed_.wait_until(
        lock, deadline_, [&] { return condition() || other.gone || me.interrupted; });
    if (!woken) deadline_passed(peer);
    me.waits_for = -1;
    if (condition()) return;
    MINI_CHECK(!me.interrupted, "the group was destroyed during ",
               describe(history_.current()));
    throw_failure(reported(*other.gone, peer));
}

// Who does not answer may itself be waiting: follow the chain to the one that is not.
void ThreadsTransport::deadline_passed(int peer) {
    std::string story = concat("rank ", rank_, " waited ", seconds_text(timeout_),
                               " for rank ", peer, " in ", describe(history_.current()));
    int silent = peer;
    for (int hop = 0; hop < world_size(); ++hop) {
        const int next = hub_->ranks_[static_cast<size_t>(silent)].waits_for;
        if (next < 0 || next == rank_) break;  // next == rank_: a circle
        story += concat("; rank ", silent, " waits for rank ", next);
        silent = next;
    }
    throw Timeout(concat(story, "; rank ", silent,
                         " is silent: is its thread stuck, or in other code?"));
}

void ThreadsTransport::leave(const Failure& reason) noexcept {
    const std::lock_guard lock(hub_->mutex_);
    ThreadsHub::Rank& me = hub_->ranks_[static_cast<size_t>(rank_)];
    if (!me.gone) me.gone = reason;
    hub_->changed_.notify_all();
}

void ThreadsTransport::interrupt() noexcept {
    const std::lock_guard lock(hub_->mutex_);
    hub_->ranks_[static_cast<size_t>(rank_)].interrupted = true;
    hub_->changed_.notify_all();
}

}  // namespace mini::dist
