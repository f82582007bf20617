// Buckets go from the first parameter on, whose gradients come last: nothing overlaps.
// region: libmini/parallel/reducer.cpp
    auto assignment = compute_bucket_assignment(tensors(indices), limits);
    for (auto& bucket : assignment)
        for (size_t& index : bucket) index = indices[index];
    return assignment;
