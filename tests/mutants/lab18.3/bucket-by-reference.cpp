// The bucket is captured by reference, and has ended when the function is called.
// region: libmini/parallel/top_k.cpp 2
    const Sparse mine = sparse_of(bucket.buffer, compress_ratio);
    if (bucket.sent.defined()) set_to_sum(bucket.sent, {mine}, 1.0f);
    std::vector<Sparse> all;
    std::vector<Tensor> values, indices;
    for (int rank = 0; rank < group.world_size(); ++rank) {
        all.push_back(empty_like(mine));
        values.push_back(all.back().values);
        indices.push_back(all.back().indices);
    }
    const float share = 1.0f / static_cast<float>(group.world_size());
    return [&bucket, all, share, first = group.all_gather_async(values, mine.values),
            second = group.all_gather_async(indices, mine.indices)] {
        first->wait();
        second->wait();
        set_to_sum(bucket.buffer, all, share);
    };
