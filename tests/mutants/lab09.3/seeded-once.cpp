// One generator serves all epochs, so an order depends on what was drawn before.
// region: libmini/data/distributed_sampler.cpp 1
    static thread_local Generator generator(seed + static_cast<uint64_t>(epoch));
    generator.set_version(default_generator().version());
    return generator;
