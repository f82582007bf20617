// --- does-not-wait
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

// --- ends-after-one-batch
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

// --- exceptions-not-caught
// An exception of the dataset leaves the worker's thread.
// region: libmini/data/epoch_state.cpp 1
    default_generator().manual_seed(plan_.base_seed + k);
    Slot slot;
    slot.batch = fetch(plan_, k);
    return slot;

// --- first-done-first-out
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

// --- lock-held-while-fetching
// The lock is held during the fetch, so workers fetch one after the other.
// region: libmini/data/epoch_state.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        slot_free_.wait(lock, [this] {
            return stop_ || begun_ == plan_.batches.size() || begun_ < handed_out_ + slots_.size();
        });
        if (stop_ || begun_ == plan_.batches.size()) return;
        const size_t k = begun_++;
        slot_of(k).worker = worker;
        
        Slot fetched = fetch_ahead(k);
        
        slot_of(k) = std::move(fetched);
        batch_done_.notify_one();
    }

// --- number-read-after-unlocking
// The number of the batch is read before the lock is taken, so two workers may fetch it.
// region: libmini/data/epoch_state.cpp 2
    while (true) {
        std::unique_lock lock(mutex_);
        slot_free_.wait(lock, [this] {
            return stop_ || begun_ == plan_.batches.size() ||
                   begun_ < handed_out_ + slots_.size();
        });
        if (stop_ || begun_ == plan_.batches.size()) return;
        const size_t k = begun_;
        slot_of(k).worker = worker;
        lock.unlock();
        Slot fetched = fetch_ahead(k);
        lock.lock();
        ++begun_;
        slot_of(k) = std::move(fetched);
        batch_done_.notify_one();
    }

// --- one-slot-too-many
// A worker begins one batch more than there are slots.
// region: libmini/data/epoch_state.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        slot_free_.wait(lock, [this] {
            return stop_ || begun_ == plan_.batches.size() || begun_ <= handed_out_ + slots_.size();
        });
        if (stop_ || begun_ == plan_.batches.size()) return;
        const size_t k = begun_++;
        slot_of(k).worker = worker;
        lock.unlock();
        Slot fetched = fetch_ahead(k);
        lock.lock();
        slot_of(k) = std::move(fetched);
        batch_done_.notify_one();
    }

// --- one-slot-unused
// A worker leaves one slot empty.
// region: libmini/data/epoch_state.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        slot_free_.wait(lock, [this] {
            return stop_ || begun_ == plan_.batches.size() || begun_ + 1 < handed_out_ + slots_.size() || begun_ == handed_out_;
        });
        if (stop_ || begun_ == plan_.batches.size()) return;
        const size_t k = begun_++;
        slot_of(k).worker = worker;
        lock.unlock();
        Slot fetched = fetch_ahead(k);
        lock.lock();
        slot_of(k) = std::move(fetched);
        batch_done_.notify_one();
    }

// --- only-std-exceptions
// An exception of another type than std::exception ends the program.
// region: libmini/data/epoch_state.cpp 1
    default_generator().manual_seed(plan_.base_seed + k);
    Slot slot;
    try {
        slot.batch = fetch(plan_, k);
    } catch (const std::exception&) {
        slot.error = std::current_exception();
    }
    return slot;

// --- reader-not-notified
// The reader is not told that a batch is done.
// region: libmini/data/epoch_state.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        slot_free_.wait(lock, [this] {
            return stop_ || begun_ == plan_.batches.size() || begun_ < handed_out_ + slots_.size();
        });
        if (stop_ || begun_ == plan_.batches.size()) return;
        const size_t k = begun_++;
        slot_of(k).worker = worker;
        lock.unlock();
        Slot fetched = fetch_ahead(k);
        lock.lock();
        slot_of(k) = std::move(fetched);
        static_cast<void>(0);
    }

// --- same-seed-for-all
// Every batch is seeded alike, so all batches are augmented alike.
// region: libmini/data/epoch_state.cpp 1
    default_generator().manual_seed(plan_.base_seed);
    Slot slot;
    try {
        slot.batch = fetch(plan_, k);
    } catch (...) {
        slot.error = std::current_exception();
    }
    return slot;

// --- seeded-by-worker
// The generator is not seeded for the batch, so its draws depend on the worker.
// region: libmini/data/epoch_state.cpp 1
    Slot slot;
    try {
        slot.batch = fetch(plan_, k);
    } catch (...) {
        slot.error = std::current_exception();
    }
    return slot;

// --- slot-not-emptied
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

// --- stop-ignored
// A worker goes on until all batches are begun, although the epoch is abandoned.
// region: libmini/data/epoch_state.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        slot_free_.wait(lock, [this] {
            return stop_ || begun_ == plan_.batches.size() || begun_ < handed_out_ + slots_.size();
        });
        if (begun_ == plan_.batches.size()) return;
        const size_t k = begun_++;
        slot_of(k).worker = worker;
        lock.unlock();
        Slot fetched = fetch_ahead(k);
        lock.lock();
        slot_of(k) = std::move(fetched);
        batch_done_.notify_one();
    }

// --- timeout-loses-the-batch
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

// --- unbounded
// The workers do not wait for free slots: nothing bounds what is fetched ahead.
// region: libmini/data/epoch_state.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        slot_free_.wait(lock, [this] {
            return true;
        });
        if (stop_ || begun_ == plan_.batches.size()) return;
        const size_t k = begun_++;
        slot_of(k).worker = worker;
        lock.unlock();
        Slot fetched = fetch_ahead(k);
        lock.lock();
        slot_of(k) = std::move(fetched);
        batch_done_.notify_one();
    }

// --- workers-not-notified
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
