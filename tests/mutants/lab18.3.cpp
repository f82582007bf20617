// --- bucket-by-reference
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

// --- indices-not-awaited
// Only the values are waited for.
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
    return [all, share, buffer = bucket.buffer,
            first = group.all_gather_async(values, mine.values),
            second = group.all_gather_async(indices, mine.indices)] {
        first->wait();
        static_cast<void>(second);
        set_to_sum(buffer, all, share);
    };

// --- largest-not-magnitudes
// The largest values are chosen, not the largest magnitudes.
// region: libmini/parallel/top_k.cpp 1
    std::vector<int64_t> indices(values.size());
    std::iota(indices.begin(), indices.end(), int64_t{0});
    const auto is_before = [&](int64_t a, int64_t b) {
        const float x = values[static_cast<size_t>(a)];
        const float y = values[static_cast<size_t>(b)];
        return x != y ? x > y : a < b;
    };
    const auto end = indices.begin() + static_cast<int64_t>(k);
    std::nth_element(indices.begin(), end, indices.end(), is_before);
    indices.resize(k);
    return indices;

// --- nan-by-abs
// Magnitudes are compared with std::abs, so that a NaN is lost.
// region: libmini/parallel/top_k.cpp 1
    std::vector<int64_t> indices(values.size());
    std::iota(indices.begin(), indices.end(), int64_t{0});
    const auto is_before = [&](int64_t a, int64_t b) {
        const float x = std::abs(values[static_cast<size_t>(a)]);
        const float y = std::abs(values[static_cast<size_t>(b)]);
        return x != y ? x > y : a < b;
    };
    const auto end = indices.begin() + static_cast<int64_t>(k);
    std::nth_element(indices.begin(), end, indices.end(), is_before);
    indices.resize(k);
    return indices;

// --- one-tensor-for-all-ranks
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

// --- sent-divided
// `sent` is this rank's part of the average.
// region: libmini/parallel/top_k.cpp 2
    const Sparse mine = sparse_of(bucket.buffer, compress_ratio);
    std::vector<Sparse> all;
    std::vector<Tensor> values, indices;
    for (int rank = 0; rank < group.world_size(); ++rank) {
        all.push_back(empty_like(mine));
        values.push_back(all.back().values);
        indices.push_back(all.back().indices);
    }
    const float share = 1.0f / static_cast<float>(group.world_size());
    if (bucket.sent.defined()) set_to_sum(bucket.sent, {mine}, share);
    return [all, share, buffer = bucket.buffer,
            first = group.all_gather_async(values, mine.values),
            second = group.all_gather_async(indices, mine.indices)] {
        first->wait();
        second->wait();
        set_to_sum(buffer, all, share);
    };

// --- sum-not-mean
// The result is the sum of the ranks' values.
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
    const float share = 1.0f;
    return [all, share, buffer = bucket.buffer,
            first = group.all_gather_async(values, mine.values),
            second = group.all_gather_async(indices, mine.indices)] {
        first->wait();
        second->wait();
        set_to_sum(buffer, all, share);
    };

// --- ties-left-open
// Equal magnitudes are in no order.
// region: libmini/parallel/top_k.cpp 1
    std::vector<int64_t> indices(values.size());
    std::iota(indices.begin(), indices.end(), int64_t{0});
    const auto is_before = [&](int64_t a, int64_t b) {
        const float x = magnitude(values[static_cast<size_t>(a)]);
        const float y = magnitude(values[static_cast<size_t>(b)]);
        return x > y;
    };
    const auto end = indices.begin() + static_cast<int64_t>(k);
    std::nth_element(indices.begin(), end, indices.end(), is_before);
    indices.resize(k);
    return indices;

// --- values-all-reduced
// The values are summed over the ranks, as if all had the same indices.
// region: libmini/parallel/top_k.cpp 2
    const Sparse mine = sparse_of(bucket.buffer, compress_ratio);
    if (bucket.sent.defined()) set_to_sum(bucket.sent, {mine}, 1.0f);
    return [mine, buffer = bucket.buffer,
            work = group.all_reduce_async(mine.values, dist::ReduceOp::kAvg)] {
        work->wait();
        set_to_sum(buffer, {mine}, 1.0f);
    };
