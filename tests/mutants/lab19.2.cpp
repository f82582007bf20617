// --- all-shards-at-once
// All broadcasts are in memory together: n more floats on every rank.
// region: libmini/parallel/zero.cpp 3
    local_->set_lr(lr());
    local_->step();
    if (P == 1) return;
    std::vector<std::optional<Shard>> shards;
    for (int owner = 0; owner < P; ++owner)
        shards.push_back(start_broadcast(*group_, owner, indices_of(owner), values));
    for (const auto& shard : shards) finish_broadcast(shard, values);

// --- filled-after-the-start
// The owner fills the buffer when its broadcast has already begun.
// region: libmini/parallel/zero.cpp 1
    shard.work = group.broadcast_async(shard.values.buffer(), owner);
    if (group.rank() == owner)
        for (size_t slot = 0; slot < indices.size(); ++slot)
            shard.values.copy_gradient(slot, parameters[indices[slot]], 1.0f);

// --- finished-shards-kept
// The order of the calls is right, but all shards stay in memory until the end.
// region: libmini/parallel/zero.cpp 3
    local_->set_lr(lr());
    local_->step();
    if (P == 1) return;
    std::vector<std::optional<Shard>> shards;
    for (int owner = 0; owner < P; ++owner) {
        shards.push_back(start_broadcast(*group_, owner, indices_of(owner), values));
        if (owner > 0) finish_broadcast(shards.end()[-2], values);
    }
    finish_broadcast(shards.back(), values);

// --- first-view-only
// Only the first parameter of each owner is copied out of the buffer.
// region: libmini/parallel/zero.cpp 2
    shard->work->wait();
    Tensor parameter = parameters[shard->values.indices().front()];
    ops::copy_(parameter, shard->values.gradient(0));

// --- last-shard-forgotten
// The loop ends with one broadcast in flight, which is never received.
// region: libmini/parallel/zero.cpp 3
    local_->set_lr(lr());
    local_->step();
    if (P == 1) return;
    std::optional<Shard> previous;
    for (int owner = 0; owner < P; ++owner) {
        auto shard = start_broadcast(*group_, owner, indices_of(owner), values);
        finish_broadcast(previous, values);
        previous = std::move(shard);
    }
    

// --- learning-rate-kept
// A scheduler changes the rate of this optimizer, but local_ keeps its first one.
// region: libmini/parallel/zero.cpp 3
    
    local_->step();
    if (P == 1) return;
    std::optional<Shard> previous;
    for (int owner = 0; owner < P; ++owner) {
        auto shard = start_broadcast(*group_, owner, indices_of(owner), values);
        finish_broadcast(previous, values);
        previous = std::move(shard);
    }
    finish_broadcast(previous, values);

// --- read-before-the-wait
// The values are copied out of the buffer before they have arrived.
// region: libmini/parallel/zero.cpp 2
    const std::vector<size_t>& indices = shard->values.indices();
    for (size_t slot = 0; slot < indices.size(); ++slot) {
        Tensor parameter = parameters[indices[slot]];
        ops::copy_(parameter, shard->values.gradient(slot));
    }
    shard->work->wait();

// --- root-always-0
// Rank 0 is the root of every broadcast: it has only its own new values.
// region: libmini/parallel/zero.cpp 1
    if (group.rank() == owner)
        for (size_t slot = 0; slot < indices.size(); ++slot)
            shard.values.copy_gradient(slot, parameters[indices[slot]], 1.0f);
    shard.work = group.broadcast_async(shard.values.buffer(), 0);

// --- three-shards-in-memory
// The shard that was finished last is kept while two others are in flight.
// region: libmini/parallel/zero.cpp 3
    local_->set_lr(lr());
    local_->step();
    if (P == 1) return;
    std::optional<Shard> previous, kept;
    for (int owner = 0; owner < P; ++owner) {
        auto shard = start_broadcast(*group_, owner, indices_of(owner), values);
        finish_broadcast(previous, values);
        if (previous) kept = std::move(previous);
        previous = std::move(shard);
    }
    finish_broadcast(previous, values);

// --- view-replaces-the-parameter
// The parameter gets the buffer's memory: tensors that share its own become stale.
// region: libmini/parallel/zero.cpp 2
    shard->work->wait();
    const std::vector<size_t>& indices = shard->values.indices();
    for (size_t slot = 0; slot < indices.size(); ++slot) {
        Tensor parameter = parameters[indices[slot]];
        parameter.set_data(shard->values.gradient(slot));
    }

// --- written-unnoticed
// The values are copied without a new version: autograd does not see the change.
// region: libmini/parallel/zero.cpp 2
    shard->work->wait();
    const std::vector<size_t>& indices = shard->values.indices();
    for (size_t slot = 0; slot < indices.size(); ++slot) {
        Tensor parameter = parameters[indices[slot]];
        std::ranges::copy(shard->values.gradient(slot).span<float>(),
                          parameter.span<float>().begin());
    }
