// Position k of the reversed list is taken for tensor k.
// region: libmini/parallel/bucket.cpp 2
    const std::vector<Tensor> reversed(tensors.rbegin(), tensors.rend());
    return compute_bucket_assignment(reversed, limits);
