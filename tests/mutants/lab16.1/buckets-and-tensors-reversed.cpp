// Each bucket is reversed too, but its limits were still met from the first tensor on.
// region: libmini/parallel/bucket.cpp 2
    auto assignment = compute_bucket_assignment(tensors, limits);
    std::ranges::reverse(assignment);
    for (auto& bucket : assignment) std::ranges::reverse(bucket);
    return assignment;
