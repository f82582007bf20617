// The buckets are reversed instead of the parameters: others than PyTorch's share one.
// region: libmini/parallel/reducer.cpp
    auto assignment = compute_bucket_assignment(tensors(indices), limits);
    std::ranges::reverse(assignment);
    return assignment;
