// --- divided-twice
// The gradients are divided, and kAvg divides them again.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (int owner = 0; owner < group.world_size(); ++owner) {
        std::vector<size_t> positions;
        for (size_t k = 0; k < owners.size(); ++k)
            if (owners[k] == owner) positions.push_back(k);
        if (positions.empty()) continue;
        GradientPart part{owner, Bucket(positions, bucket.parameters), nullptr};
        for (size_t slot = 0; slot < positions.size(); ++slot)
            part.gradients.copy_gradient(slot, bucket.gradients[positions[slot]], 1.0f / static_cast<float>(group.world_size()));
        part.work =
            group.reduce_async(part.gradients.buffer(), owner, dist::ReduceOp::kAvg);
        
        parts.push_back(std::move(part));
    }

// --- everything-to-rank-0
// Every reduction has rank 0 as its root.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (int owner = 0; owner < group.world_size(); ++owner) {
        std::vector<size_t> positions;
        for (size_t k = 0; k < owners.size(); ++k)
            if (owners[k] == owner) positions.push_back(k);
        if (positions.empty()) continue;
        GradientPart part{owner, Bucket(positions, bucket.parameters), nullptr};
        for (size_t slot = 0; slot < positions.size(); ++slot)
            part.gradients.copy_gradient(slot, bucket.gradients[positions[slot]], 1.0f);
        part.work =
            group.reduce_async(part.gradients.buffer(), 0, dist::ReduceOp::kAvg);
        
        parts.push_back(std::move(part));
    }

// --- forgotten-without-waiting
// The parts are removed while their reductions are in flight.
// region: libmini/parallel/reduce_scatter_hook.cpp 2
    parts.clear();

// --- one-reduction-per-gradient
// Every gradient pays the latency of its own reduction.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (int owner = 0; owner < group.world_size(); ++owner)
        for (size_t k = 0; k < owners.size(); ++k) {
            if (owners[k] != owner) continue;
            GradientPart part{owner, Bucket({k}, bucket.parameters), nullptr};
            part.gradients.copy_gradient(0, bucket.gradients[k], 1.0f);
            part.work =
                group.reduce_async(part.gradients.buffer(), owner, dist::ReduceOp::kAvg);
            parts.push_back(std::move(part));
        }

// --- slots-taken-for-positions
// The bucket's first gradients go into every part.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (int owner = 0; owner < group.world_size(); ++owner) {
        std::vector<size_t> positions;
        for (size_t k = 0; k < owners.size(); ++k)
            if (owners[k] == owner) positions.push_back(k);
        if (positions.empty()) continue;
        GradientPart part{owner, Bucket(positions, bucket.parameters), nullptr};
        for (size_t slot = 0; slot < positions.size(); ++slot)
            part.gradients.copy_gradient(slot, bucket.gradients[slot], 1.0f);
        part.work =
            group.reduce_async(part.gradients.buffer(), owner, dist::ReduceOp::kAvg);
        
        parts.push_back(std::move(part));
    }

// --- sum-not-average
// The owner gets the sum of the gradients.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (int owner = 0; owner < group.world_size(); ++owner) {
        std::vector<size_t> positions;
        for (size_t k = 0; k < owners.size(); ++k)
            if (owners[k] == owner) positions.push_back(k);
        if (positions.empty()) continue;
        GradientPart part{owner, Bucket(positions, bucket.parameters), nullptr};
        for (size_t slot = 0; slot < positions.size(); ++slot)
            part.gradients.copy_gradient(slot, bucket.gradients[positions[slot]], 1.0f);
        part.work =
            group.reduce_async(part.gradients.buffer(), owner, dist::ReduceOp::kSum);
        
        parts.push_back(std::move(part));
    }

// --- waits-at-once
// Each reduction is waited for before the next one starts.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (int owner = 0; owner < group.world_size(); ++owner) {
        std::vector<size_t> positions;
        for (size_t k = 0; k < owners.size(); ++k)
            if (owners[k] == owner) positions.push_back(k);
        if (positions.empty()) continue;
        GradientPart part{owner, Bucket(positions, bucket.parameters), nullptr};
        for (size_t slot = 0; slot < positions.size(); ++slot)
            part.gradients.copy_gradient(slot, bucket.gradients[positions[slot]], 1.0f);
        part.work =
            group.reduce_async(part.gradients.buffer(), owner, dist::ReduceOp::kAvg);
        part.work->wait();
        parts.push_back(std::move(part));
    }
