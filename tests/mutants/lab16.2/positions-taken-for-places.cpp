// Position k of the reversed list is taken for parameter k.
// region: libmini/parallel/reducer.cpp
    std::ranges::reverse(places);
    return compute_bucket_assignment(tensors(places), limits);
