// Every rank's values are received in the same tensor.
// region: libmini/parallel/top_k.cpp 2
    const Sparse mine = sparse_of(bucket.buffer, compress_ratio);
    if (bucket.sent.defined()) set_to_sum(bucket.sent, {mine}, 1.0f);
    std::vector<Sparse> all;
    std::vector<Tensor> values, indices;
    for (int rank = 0; rank < group.world_size(); ++rank) {
        all.push_back(rank == 0 ? empty_like(mine) : all.front());
        values.push_back(all.back().values);
        indices.push_back(all.back().indices);
    }
    const float share = 1.0f / static_cast<float>(group.world_size());
    return [all, share, buffer = bucket.buffer,
            first = group.all_gather_async(values, mine.values),
            second = group.all_gather_async(indices, mine.indices)] {
        first->wait();
        second->wait();
        set_to_sum(buffer, all, share);
    };
