// The reader looks once and does not wait.
// region: libmini/data/epoch_state.cpp 3
    std::unique_lock lock(mutex_);
    static_cast<void>(longest);
    Slot& next_slot = slot_of(handed_out_);
    if (!next_slot.done()) throw_timeout(next_slot);
    Slot slot = std::exchange(next_slot, Slot{});
    ++handed_out_;
    slot_free_.notify_one();
    return slot;
