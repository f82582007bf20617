// Only what every rank has used counts as used.
// region: libmini/parallel/reducer.cpp
    for (size_t place = 0; place < slots_.size(); ++place) {
        Slot& slot = slots_[place];
        if (!use.empty()) slot.used_somewhere = use[place] == group_->world_size();
        if (slot.unused && slot.used_somewhere) tensor(place).set_grad(in_bucket(place));
    }
