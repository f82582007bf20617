// No worker is told that a slot is free.
// region: libmini/data/epoch_state.cpp 3
    std::unique_lock lock(mutex_);
    Slot& next_slot = slot_of(handed_out_);
    const bool done =
        batch_done_.wait_for(lock, longest, [&] { return next_slot.done(); });
    if (!done) throw_timeout(next_slot);
    Slot slot = std::exchange(next_slot, Slot{});
    ++handed_out_;
    return slot;
