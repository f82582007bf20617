// The reader takes the first batch that is done, so the order depends on the speed.
// region: libmini/data/epoch_state.cpp 3
    std::unique_lock lock(mutex_);
    auto ready = slots_.end();
    const bool done = batch_done_.wait_for(lock, longest, [&] {
        ready = std::find_if(slots_.begin(), slots_.end(),
                             [](const Slot& slot) { return slot.done(); });
        return ready != slots_.end();
    });
    if (!done) throw_timeout(slot_of(handed_out_));
    Slot slot = std::exchange(*ready, Slot{});
    ++handed_out_;
    slot_free_.notify_one();
    return slot;
