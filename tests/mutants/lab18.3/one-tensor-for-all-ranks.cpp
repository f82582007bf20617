// All ranks' values are gathered into one tensor: copies of a Tensor share elements.
// region: libmini/parallel/top_k.cpp 2
    const Sparse mine = sparse_of(bucket.buffer, compress_ratio);
    if (bucket.sent.defined()) set_to_sum(bucket.sent, {mine}, 1.0f);
    const std::vector<Sparse> all(static_cast<size_t>(group.world_size()),
                                  empty_like(mine));
    std::vector<Tensor> values, indices;
    for (const Sparse& part : all) {
        values.push_back(part.values);
        indices.push_back(part.indices);
    }
    const float share = 1.0f / static_cast<float>(group.world_size());
    return [all, share, buffer = bucket.buffer,
            first = group.all_gather_async(values, mine.values),
            second = group.all_gather_async(indices, mine.indices)] {
        first->wait();
        second->wait();
        set_to_sum(buffer, all, share);
    };
