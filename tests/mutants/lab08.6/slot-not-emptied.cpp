// The batch is copied and stays in its slot, where it is taken for the next one.
// region: libmini/data/epoch_state.cpp 3
    std::unique_lock lock(mutex_);
    Slot& next_slot = slot_of(handed_out_);
    const bool done =
        batch_done_.wait_for(lock, longest, [&] { return next_slot.done(); });
    if (!done) throw_timeout(next_slot);
    Slot slot = next_slot;
    ++handed_out_;
    slot_free_.notify_one();
    return slot;
