// `use` is never read: every unused parameter gets zeros.
// region: libmini/parallel/reducer.cpp
    static_cast<void>(use);
    for (size_t place = 0; place < slots_.size(); ++place) {
        const Slot& slot = slots_[place];
        if (slot.unused && slot.used_somewhere) tensor(place).set_grad(in_bucket(place));
    }
