// A worker fetches one batch and ends.
// region: libmini/data/epoch_state.cpp 2
    std::unique_lock lock(mutex_);
    slot_free_.wait(lock, [this] {
        return stop_ || begun_ == plan_.batches.size() ||
               begun_ < handed_out_ + slots_.size();
    });
    if (stop_ || begun_ == plan_.batches.size()) return;
    const size_t k = begun_++;
    slot_of(k).worker = worker;
    lock.unlock();
    Slot fetched = fetch_ahead(k);
    lock.lock();
    slot_of(k) = std::move(fetched);
    batch_done_.notify_one();
