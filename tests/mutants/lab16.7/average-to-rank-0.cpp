// Only rank 0 gets the average of what it has not used.
    for (size_t index = 0; index < slots_.size(); ++index) {
        Slot& slot = slots_[index];
        if (!use.empty()) slot.used_somewhere = use[index] > 0;
        if (group_->rank() == 0 && slot.unused && slot.used_somewhere)
            tensor(index).set_grad(in_bucket(index));
    }
