// The positions are returned, not the entries of the list.
// region: libmini/data/sampler.cpp 3
    return randperm(size(), generator);
