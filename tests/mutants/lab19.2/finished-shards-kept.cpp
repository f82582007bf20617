// The order of the calls is right, but all shards stay in memory until the end.
// region: libmini/parallel/zero.cpp 3
    local_->set_lr(lr());
    local_->step();
    if (P == 1) return;
    std::vector<std::optional<Shard>> shards;
    for (int owner = 0; owner < P; ++owner) {
        shards.push_back(start_broadcast(*group_, owner, indices_of(owner), parameters_));
        if (owner > 0) finish_broadcast(shards.end()[-2], parameters_);
    }
    finish_broadcast(shards.back(), parameters_);
