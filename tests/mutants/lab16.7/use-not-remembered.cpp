// Once a static graph is known and `use` is empty, nothing is handed out any more.
    if (use.empty()) return;
    for (size_t index = 0; index < slots_.size(); ++index)
        if (slots_[index].unused && use[index] > 0)
            tensor(index).set_grad(in_bucket(index));
