// The buckets are reversed, not the tensors: others than PyTorch's share one.
// region: libmini/parallel/bucket.cpp 2
    auto assignment = compute_bucket_assignment(tensors, limits);
    std::ranges::reverse(assignment);
    return assignment;
