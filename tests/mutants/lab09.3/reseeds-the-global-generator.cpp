// The default generator is seeded again, and dropout's masks with it.
// region: libmini/data/distributed_sampler.cpp 1
    manual_seed(seed + static_cast<uint64_t>(epoch));
    return default_generator();
