// The parts in flight are static: two models finish each other's buckets.
// region: libmini/parallel/reduce_scatter_hook.cpp 2
        static_cast<void>(in_flight);
        static thread_local std::vector<GradientPart> flying;
        finish_reductions(flying);
        flying = start_reductions(bucket, owners, group);
        keep_own_gradients(flying, bucket, group.rank());
        return [] { finish_reductions(flying); };
