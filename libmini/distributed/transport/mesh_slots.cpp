// The slots of MeshTransport: how it fills, returns and awaits them.

#include <cstddef>
#include <span>
#include <thread>

#include "libmini/core/error.hpp"
#include "libmini/distributed/transport/mesh_transport.hpp"

namespace mini::dist {
namespace {

// How many times a wait looks at a slot before it lets other messages progress, if every
// rank has a core of its own.
constexpr int kLooks = 2000;

bool has_core_for_each(int ranks) {
    static const auto cores = static_cast<int>(std::thread::hardware_concurrency());
    return ranks <= cores;
}

}  // namespace

std::span<std::byte> MeshTransport::start_slot(int to) { return slots_of(to).out.next(); }

void MeshTransport::send_slot(int to, size_t bytes) {
    bytes_sent_ += bytes;
    ++messages_sent_;
    if (slots_of(to).out.fill({history_.current(), bytes}))
        stream(to).channel().wake_other();
}

size_t MeshTransport::slots_out(int to) const { return slots_of(to).out.out(); }

std::span<std::byte> MeshTransport::take_slot(int to, size_t bytes) {
    await_slot(to, /*is_for_return=*/true);
    return slots_of(to).out.take().first(bytes);
}

std::span<std::byte> MeshTransport::recv_slot(int from, size_t bytes) {
    await_slot(from, /*is_for_return=*/false);
    SlotQueue& slots = slots_of(from).in;
    history_.check_same(rank_, from, slots.head().collective);
    MINI_CHECK(slots.head().bytes == bytes, "rank ", from, " put ", slots.head().bytes,
               " bytes in a slot where rank ", rank_, " expects ", bytes, " in ",
               describe(history_.current()));
    return slots.bytes().first(bytes);
}

void MeshTransport::return_slot(int from, size_t written) {
    bytes_sent_ += written;
    messages_sent_ += written > 0;
    if (slots_of(from).in.give_back()) stream(from).channel().wake_other();
}

// Blocks until the slot is ready. All messages progress meanwhile.
void MeshTransport::await_slot(int peer, bool is_for_return) {
    slot_wait_ = {peer, is_for_return};
    const int looks = has_core_for_each(world_size()) ? kLooks : 1;
    for (int i = 0; i < looks && !slot_wait_.done; ++i) slot_wait_.done = is_slot_ready();
    const bool nothing = true;
    run_until_done(nothing, kNoRank, slot_wait_.done, peer);
    slot_wait_ = {};
}

bool MeshTransport::is_slot_ready() const {
    if (slot_wait_.peer == kNoRank) return false;
    const SlotQueues& slots = slots_of(slot_wait_.peer);
    return slot_wait_.is_for_return ? slots.out.is_returned() : slots.in.is_filled();
}

// Announces that this rank is about to sleep until the slot is ready, or that it is
// awake.
void MeshTransport::set_sleeps_for_slot(bool sleeps) {
    if (slot_wait_.peer == kNoRank) return;
    SlotQueues& slots = slots_of(slot_wait_.peer);
    if (slot_wait_.is_for_return) {
        slots.out.set_filler_sleeps(sleeps);
    } else {
        slots.in.set_worker_sleeps(sleeps);
    }
}

}  // namespace mini::dist
