// --- all-buckets-in-flight
// No bucket is finished before the end of the backward pass.
// region: libmini/parallel/reduce_scatter_hook.cpp 2
        auto parts = start_reductions(bucket, owners, group);
        keep_own_gradients(parts, bucket, group.rank());
        for (GradientPart& part : parts) in_flight->push_back(std::move(part));
        return [in_flight = in_flight] { finish_reductions(*in_flight); };

// --- bucket-not-freed
// The buckets keep their memory: nothing is saved.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (const GradientPart& part : parts)
        for (size_t slot = 0; slot < part.gradients.indices().size(); ++slot) {
            Tensor parameter = bucket.parameters[part.gradients.indices()[slot]];
            parameter.set_grad(part.owner == rank ? part.gradients.gradient(slot)
                                                  : Tensor());
        }
    

// --- every-part-kept
// Every rank keeps all parts, also those that are not reduced to it.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (const GradientPart& part : parts)
        for (size_t slot = 0; slot < part.gradients.indices().size(); ++slot) {
            Tensor parameter = bucket.parameters[part.gradients.indices()[slot]];
            static_cast<void>(rank);
            parameter.set_grad(part.gradients.gradient(slot));
        }
    bucket.buffer.free_storage();

// --- hook-waits-for-its-own-bucket
// The backward pass stops until the bucket is reduced: no overlap.
// region: libmini/parallel/reduce_scatter_hook.cpp 2
        *in_flight = start_reductions(bucket, owners, group);
        keep_own_gradients(*in_flight, bucket, group.rank());
        finish_reductions(*in_flight);
        return [] {};

// --- hooks-share-the-flight
// The parts in flight are static: two models finish each other's buckets.
// region: libmini/parallel/reduce_scatter_hook.cpp 2
        static_cast<void>(in_flight);
        static thread_local std::vector<GradientPart> flying;
        finish_reductions(flying);
        flying = start_reductions(bucket, owners, group);
        keep_own_gradients(flying, bucket, group.rank());
        return [] { finish_reductions(flying); };

// --- last-bucket-not-finished
// The returned function is empty, so no rank waits for the last bucket.
// region: libmini/parallel/reduce_scatter_hook.cpp 2
        finish_reductions(*in_flight);
        *in_flight = start_reductions(bucket, owners, group);
        keep_own_gradients(*in_flight, bucket, group.rank());
        return [] {};

// --- others-still-in-the-bucket
// Gradients of other ranks stay views of the bucket, whose memory is gone.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (const GradientPart& part : parts)
        for (size_t slot = 0; slot < part.gradients.indices().size(); ++slot) {
            Tensor parameter = bucket.parameters[part.gradients.indices()[slot]];
            if (part.owner == rank) parameter.set_grad(part.gradients.gradient(slot));
        }
    bucket.buffer.free_storage();

// --- zeros-for-others
// Gradients of other ranks are zeros, which take the memory that was to be saved.
// region: libmini/parallel/reduce_scatter_hook.cpp 1
    for (const GradientPart& part : parts)
        for (size_t slot = 0; slot < part.gradients.indices().size(); ++slot) {
            Tensor parameter = bucket.parameters[part.gradients.indices()[slot]];
            parameter.set_grad(part.owner == rank ? part.gradients.gradient(slot)
                                                  : parameter.new_zeros(parameter.shape()));
        }
    bucket.buffer.free_storage();
