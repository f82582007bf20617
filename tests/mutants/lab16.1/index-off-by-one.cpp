// The last position becomes index 1: the indices are one too high.
// region: libmini/parallel/bucket.cpp 2
    const std::vector<Tensor> reversed(tensors.rbegin(), tensors.rend());
    auto assignment = compute_bucket_assignment(reversed, limits);
    for (auto& bucket : assignment)
        for (size_t& index : bucket) index = tensors.size() - index;
    return assignment;
