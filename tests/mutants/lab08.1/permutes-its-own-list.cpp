// The list itself is permuted, so each epoch permutes what the last one has left.
// region: libmini/data/sampler.cpp 3
    const std::vector<int64_t> order = randperm(size(), generator);
    std::vector<int64_t> permuted;
    for (const int64_t position : order)
        permuted.push_back(indices_[static_cast<size_t>(position)]);
    indices_ = permuted;
    return permuted;
