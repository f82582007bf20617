// Seed and epoch are multiplied, so that epoch 0 has the same order for every seed.
// region: libmini/data/distributed_sampler.cpp 1
    Generator generator(options_.seed * static_cast<uint64_t>(epoch_));
    generator.set_version(default_generator().version());
    if (replica_.size == 1) return randperm(n, generator);

    const std::vector<uint32_t> order = randperm_u32(n, generator);
    return take_share(n, replica_, num_samples_,
                      [&](int64_t i) { return int64_t{order[static_cast<size_t>(i)]}; });
