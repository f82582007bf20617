// The values are summed over the ranks, as if all had the same indices.
// region: libmini/parallel/top_k.cpp 2
    const Sparse mine = sparse_of(bucket.buffer, compress_ratio);
    if (bucket.sent.defined()) set_to_sum(bucket.sent, {mine}, 1.0f);
    return [mine, buffer = bucket.buffer,
            work = group.all_reduce_async(mine.values, dist::ReduceOp::kAvg)] {
        work->wait();
        set_to_sum(buffer, {mine}, 1.0f);
    };
