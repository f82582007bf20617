// The returned function is empty, so no rank waits for the last bucket.
// region: libmini/parallel/reduce_scatter_hook.cpp 2
        finish_reductions(*in_flight);
        *in_flight = start_reductions(bucket, owners, group);
        keep_own_gradients(*in_flight, bucket, group.rank());
        return [] {};
