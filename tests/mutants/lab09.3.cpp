// --- counts-by-itself
// The sampler goes to the next epoch itself, set_epoch or not.
// region: libmini/data/distributed_sampler.cpp 2
    const std::vector<uint32_t> order = randperm_u32(n, generator);
    ++epoch_;
    return take_share(n, replica_, num_samples_,
                      [&](int64_t i) { return int64_t{order[static_cast<size_t>(i)]}; });

// --- epoch-counted
// set_epoch goes to the next epoch, whatever it is told, so a resumed job differs.
// region: libmini/data/distributed_sampler.cpp 3
    epoch_ += epoch > 0 ? 1 : 0;
    epoch_used_ = false;

// --- epoch-ignored
// Every epoch has the order of the first.
// region: libmini/data/distributed_sampler.cpp 1
    static_cast<void>(epoch);
    Generator generator(seed);
    generator.set_version(default_generator().version());
    return generator;

// --- epoch-stays-used
// set_epoch forgets that the new epoch is unused, and a warning comes for nothing.
// region: libmini/data/distributed_sampler.cpp 3
    epoch_ = epoch;

// --- reseeds-the-global-generator
// The default generator is seeded again, and dropout's masks with it.
// region: libmini/data/distributed_sampler.cpp 1
    manual_seed(seed + static_cast<uint64_t>(epoch));
    return default_generator();

// --- seed-times-epoch
// Seed and epoch are multiplied, so that epoch 0 has the same order for every seed.
// region: libmini/data/distributed_sampler.cpp 1
    Generator generator(seed * static_cast<uint64_t>(epoch));
    generator.set_version(default_generator().version());
    return generator;

// --- seeded-by-rank
// Each rank permutes in its own way, so some samples come twice and some never.
// region: libmini/data/distributed_sampler.cpp 2
    Generator own = epoch_generator(options_.seed, epoch_ + replica_.rank);
    const std::vector<uint32_t> order = randperm_u32(n, own);
    return take_share(n, replica_, num_samples_,
                      [&](int64_t i) { return int64_t{order[static_cast<size_t>(i)]}; });

// --- seeded-once
// One generator serves all epochs, so an order depends on what was drawn before.
// region: libmini/data/distributed_sampler.cpp 1
    static thread_local Generator generator(seed + static_cast<uint64_t>(epoch));
    generator.set_version(default_generator().version());
    return generator;

// --- share-before-shuffle
// Each rank shuffles its own share, so it sees the same samples in every epoch.
// region: libmini/data/distributed_sampler.cpp 2
    std::vector<int64_t> mine =
        take_share(n, replica_, num_samples_, [](int64_t i) { return i; });
    std::vector<int64_t> shuffled;
    for (const int64_t place : randperm(num_samples_, generator))
        shuffled.push_back(mine[static_cast<size_t>(place)]);
    return shuffled;

// --- version-forgotten
// The generator is of the newest version of PyTorch, whichever was chosen.
// region: libmini/data/distributed_sampler.cpp 1
    return Generator(seed + static_cast<uint64_t>(epoch));
