// Each rank permutes in its own way, so some samples come twice and some never.
// region: libmini/data/distributed_sampler.cpp 2
    Generator own = epoch_generator(options_.seed, epoch_ + replica_.rank);
    const std::vector<uint32_t> order = randperm_u32(n, own);
    return take_share(n, replica_, num_samples_,
                      [&](int64_t i) { return int64_t{order[static_cast<size_t>(i)]}; });
