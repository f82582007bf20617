// The buckets are reversed, not the tensors: other tensors share a bucket.
// region: libmini/parallel/bucket.cpp 2
    auto assignment = compute_bucket_assignment(tensors, limits);
    std::ranges::reverse(assignment);
    return assignment;
