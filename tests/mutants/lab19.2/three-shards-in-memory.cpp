// The shard that was finished last is kept while two others are in flight.
// region: libmini/parallel/zero.cpp 3
    local_->set_lr(lr());
    local_->step();
    if (P == 1) return;
    std::optional<Shard> previous, kept;
    for (int owner = 0; owner < P; ++owner) {
        auto shard = start_broadcast(*group_, owner, indices_of(owner), parameters_);
        finish_broadcast(previous, parameters_);
        if (previous) kept = std::move(previous);
        previous = std::move(shard);
    }
    finish_broadcast(previous, parameters_);
