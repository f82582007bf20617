// All broadcasts are in memory together: n more floats on every rank.
// region: libmini/parallel/zero.cpp 3
    local_->set_lr(lr());
    local_->step();
    if (P == 1) return;
    std::vector<std::optional<Shard>> shards;
    for (int owner = 0; owner < P; ++owner)
        shards.push_back(start_broadcast(*group_, owner, indices_of(owner), parameters_));
    for (const auto& shard : shards) finish_broadcast(shard, parameters_);
