// The upper end is n - 1, as with a closed interval, so the last sample is never drawn.
// region: libmini/data/sampler.cpp 1
    std::vector<int64_t> order(static_cast<size_t>(num_samples));
    for (int64_t& index : order) index = n > 1 ? generator.randint(0, n - 1) : 0;
    return order;
