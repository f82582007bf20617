// Every epoch has the order of the first.
// region: libmini/data/distributed_sampler.cpp 1
    static_cast<void>(epoch);
    Generator generator(seed);
    generator.set_version(default_generator().version());
    return generator;
