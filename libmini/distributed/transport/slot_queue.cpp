#include "libmini/distributed/transport/slot_queue.hpp"

#include "libmini/core/error.hpp"

namespace mini::dist {

SlotQueue::SlotQueue(std::span<std::byte> memory)
    : layout_(reinterpret_cast<Layout*>(memory.data())) {
    MINI_CHECK(memory.size() >= memory_bytes(), "SlotQueue: the memory has ",
               memory.size(), " bytes where ", memory_bytes(), " are needed");
}

std::span<std::byte> SlotQueue::next() { return slot(filled_).bytes; }

bool SlotQueue::fill(const Head& head) {
    Slot& next = slot(filled_);
    next.head = head;
    next.filled.store(++filled_);
    return layout_->worker_sleeps.load() != 0 && layout_->worker_sleeps.exchange(0) != 0;
}

bool SlotQueue::is_returned() const { return slot(taken_).returned.load() == taken_ + 1; }

std::span<std::byte> SlotQueue::take() { return slot(taken_++).bytes; }

bool SlotQueue::is_filled() const {
    return slot(returned_).filled.load() == returned_ + 1;
}

bool SlotQueue::give_back() {
    Slot& done = slot(returned_);
    done.returned.store(++returned_);
    return layout_->filler_sleeps.load() != 0 && layout_->filler_sleeps.exchange(0) != 0;
}

}  // namespace mini::dist
