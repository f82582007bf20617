// Only rank 0 gets the average of what it has not used.
// region: libmini/parallel/reducer.cpp
    for (size_t place = 0; place < slots_.size(); ++place) {
        Slot& slot = slots_[place];
        if (!use.empty()) slot.used_somewhere = use[place] > 0;
        if (group_->rank() == 0 && slot.unused && slot.used_somewhere)
            tensor(place).set_grad(in_bucket(place));
    }
