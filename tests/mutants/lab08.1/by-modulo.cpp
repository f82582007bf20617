// A word modulo n is drawn from 64 bits, not by randint.
// region: libmini/data/sampler.cpp 1
    std::vector<int64_t> order(static_cast<size_t>(num_samples));
    for (int64_t& index : order)
        index = static_cast<int64_t>(generator.random64() % static_cast<uint64_t>(n));
    return order;
