// The backward pass stops until the bucket is reduced: no overlap.
// region: libmini/parallel/reduce_scatter_hook.cpp 2
        *in_flight = start_reductions(bucket, owners, group);
        keep_own_gradients(*in_flight, bucket, group.rank());
        finish_reductions(*in_flight);
        return [] {};
