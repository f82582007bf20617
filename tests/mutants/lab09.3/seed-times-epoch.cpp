// Seed and epoch are multiplied, so that epoch 0 has the same order for every seed.
// region: libmini/data/distributed_sampler.cpp 1
    Generator generator(seed * static_cast<uint64_t>(epoch));
    generator.set_version(default_generator().version());
    return generator;
