// Buckets go from the first parameter on, whose gradients come last.
// region: libmini/parallel/bucket.cpp 2
    return compute_bucket_assignment(tensors, limits);
