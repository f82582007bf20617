// A batch that is late is counted as handed out, so the next call skips it.
// region: libmini/data/epoch_state.cpp 3
    std::unique_lock lock(mutex_);
    Slot& next_slot = slot_of(handed_out_);
    const bool done =
        batch_done_.wait_for(lock, longest, [&] { return next_slot.done(); });
    if (!done) {
        const Slot late = next_slot;
        next_slot = Slot{};
        try {
            throw_timeout(late);
        } catch (...) {
            ++handed_out_;
            throw;
        }
    }
    Slot slot = std::exchange(next_slot, Slot{});
    ++handed_out_;
    slot_free_.notify_one();
    return slot;
