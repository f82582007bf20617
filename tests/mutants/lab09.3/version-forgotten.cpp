// The generator is of the newest version of PyTorch, whichever was chosen.
// region: libmini/data/distributed_sampler.cpp 1
    return Generator(seed + static_cast<uint64_t>(epoch));
