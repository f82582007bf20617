// A scheduler changes the rate of this optimizer, but local_ keeps its first one.
// region: libmini/parallel/zero.cpp 3
    
    local_->step();
    if (P == 1) return;
    std::optional<Shard> previous;
    for (int owner = 0; owner < P; ++owner) {
        auto shard = start_broadcast(*group_, owner, indices_of(owner), parameters_);
        finish_broadcast(previous, parameters_);
        previous = std::move(shard);
    }
    finish_broadcast(previous, parameters_);
