// Position k of the reversed list is taken for parameter k.
// region: libmini/parallel/reducer.cpp
    std::ranges::reverse(indices);
    return compute_bucket_assignment(tensors(indices), limits);
