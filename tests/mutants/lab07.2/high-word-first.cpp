// The first of two words goes above the second, as in PyTorch but not in Python.
// region: libmini/random/python_random.cpp 1
    if (bits <= 32) return engine_.next() >> (32 - bits);
    const uint64_t high = engine_.next() >> (64 - bits);
    const uint64_t low = engine_.next();
    return high << 32 | low;
