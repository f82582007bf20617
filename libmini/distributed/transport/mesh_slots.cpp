// The slots of MeshTransport: how it fills, returns and awaits them.

#include <cstddef>
#include <memory>
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
    fill_slot(to, {.collective = history_.current(), .bytes = bytes, .place = {}});
}

void MeshTransport::send_place(int to, const SharedPlace& place) {
    fill_slot(to, {.collective = history_.current(), .bytes = 0, .place = place});
}

void MeshTransport::fill_slot(int to, const SlotQueue::Head& head) {
    if (slots_of(to).out.fill(head)) stream(to).channel().wake_other();
}

size_t MeshTransport::slots_out(int to) const { return slots_of(to).out.out(); }

std::span<std::byte> MeshTransport::take_slot(int to, size_t bytes) {
    await_slot(to, /*is_for_return=*/true);
    return slots_of(to).out.take().first(bytes);
}

std::span<std::byte> MeshTransport::recv_slot(int from, size_t bytes) {
    await_filled(from, bytes);
    return slots_of(from).in.bytes().first(bytes);
}

SharedPlace MeshTransport::recv_place(int from) { return await_filled(from, 0).place; }

// Blocks until rank `from` has filled the next slot. Returns its head, which has `bytes`.
const SlotQueue::Head& MeshTransport::await_filled(int from, size_t bytes) {
    await_slot(from, /*is_for_return=*/false);
    const SlotQueue::Head& head = slots_of(from).in.head();
    history_.check_same(rank_, from, head.collective);
    MINI_CHECK(head.bytes == bytes, "rank ", from, " put ", head.bytes,
               " bytes in a slot where rank ", rank_, " expects ", bytes, " in ",
               describe(history_.current()));
    return head;
}

void MeshTransport::return_slot(int from, size_t moved) {
    bytes_sent_ += moved;
    messages_sent_ += moved > 0;
    if (slots_of(from).in.give_back()) stream(from).channel().wake_other();
}

SharedPlace MeshTransport::place_of(std::span<const std::byte> bytes) const {
    return heap_ ? heap_->find(bytes) : SharedPlace{};
}

std::span<std::byte> MeshTransport::at(int other, const SharedPlace& place,
                                       size_t bytes) {
    PeerHeap* const heap = stream(other).channel().heap();
    MINI_CHECK(heap != nullptr, "rank ", rank_, " cannot map the memory of rank ", other);
    return heap->at(place, bytes);
}

std::shared_ptr<std::byte> MeshTransport::allocate_shared(size_t bytes) {
    return heap_ && shares_memory_ ? heap_->allocate(bytes) : nullptr;
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
