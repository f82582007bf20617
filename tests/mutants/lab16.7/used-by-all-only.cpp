// Only what every rank has used counts as used.
    for (size_t index = 0; index < slots_.size(); ++index) {
        Slot& slot = slots_[index];
        if (!use.empty()) slot.used_somewhere = use[index] == group_->world_size();
        if (slot.unused && slot.used_somewhere) tensor(index).set_grad(in_bucket(index));
    }
