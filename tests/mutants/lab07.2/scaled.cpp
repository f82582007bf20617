// A number in [0, 1) is multiplied by the bound, as many programs do.
// region: libmini/random/python_random.cpp 2
    return static_cast<uint64_t>(random() * static_cast<double>(bound));
