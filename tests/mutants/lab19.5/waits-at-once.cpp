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
