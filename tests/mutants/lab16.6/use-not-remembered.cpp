// Once a static graph is known and `use` is empty, nothing is handed out any more.
// region: libmini/parallel/reducer.cpp
    if (use.empty()) return;
    for (size_t place = 0; place < slots_.size(); ++place)
        if (slots_[place].unused && use[place] > 0)
            tensor(place).set_grad(in_bucket(place));
