// The loop ends with one broadcast in flight, which is never received.
// region: libmini/parallel/zero.cpp 3
    local_->set_lr(lr());
    local_->step();
    if (P == 1) return;
    std::optional<Shard> previous;
    for (int owner = 0; owner < P; ++owner) {
        auto shard = start_broadcast(*group_, owner, indices_of(owner), parameters_);
        finish_broadcast(previous, parameters_);
        previous = std::move(shard);
    }
    
