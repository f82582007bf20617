// Each bucket is sorted: its views would lie in forward order.
// region: libmini/parallel/bucket.cpp 2
    const std::vector<Tensor> reversed(tensors.rbegin(), tensors.rend());
    auto assignment = compute_bucket_assignment(reversed, limits);
    for (auto& bucket : assignment) {
        for (size_t& index : bucket) index = tensors.size() - 1 - index;
        std::ranges::sort(bucket);
    }
    return assignment;
