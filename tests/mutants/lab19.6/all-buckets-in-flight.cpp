// No bucket is finished before the end of the backward pass.
// region: libmini/parallel/reduce_scatter_hook.cpp 2
        auto parts = start_reductions(bucket, owners, group);
        keep_own_gradients(parts, bucket, group.rank());
        for (GradientPart& part : parts) in_flight->push_back(std::move(part));
        return [in_flight = in_flight] { finish_reductions(*in_flight); };
