// Entry i goes to position p[i], and not the other way round.
// region: libmini/data/sampler.cpp 3
    const std::vector<int64_t> order = randperm(size(), generator);
    std::vector<int64_t> permuted(order.size());
    for (size_t i = 0; i < order.size(); ++i)
        permuted[static_cast<size_t>(order[i])] = indices_[i];
    return permuted;
