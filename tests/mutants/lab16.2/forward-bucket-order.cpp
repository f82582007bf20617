// Buckets go from the first parameter on, whose gradients come last: nothing overlaps.
// region: libmini/parallel/reducer.cpp
    auto assignment = compute_bucket_assignment(tensors(places), limits);
    for (auto& bucket : assignment)
        for (size_t& place : bucket) place = places[place];
    return assignment;
