// `use` is never read: every unused parameter gets zeros.
    static_cast<void>(use);
    for (size_t index = 0; index < slots_.size(); ++index) {
        const Slot& slot = slots_[index];
        if (slot.unused && slot.used_somewhere) tensor(index).set_grad(in_bucket(index));
    }
