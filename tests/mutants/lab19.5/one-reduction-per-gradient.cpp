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
