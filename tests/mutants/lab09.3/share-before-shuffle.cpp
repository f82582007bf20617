// Each rank shuffles its own share, so it sees the same samples in every epoch.
// region: libmini/data/distributed_sampler.cpp 2
    std::vector<int64_t> mine =
        take_share(n, replica_, num_samples_, [](int64_t i) { return i; });
    std::vector<int64_t> shuffled;
    for (const int64_t place : randperm(num_samples_, generator))
        shuffled.push_back(mine[static_cast<size_t>(place)]);
    return shuffled;
