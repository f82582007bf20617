// The low bits of a word are taken, not the high ones.
// region: libmini/random/python_random.cpp 1
    if (bits <= 32) return engine_.next() & (0xffffffffu >> (32 - bits));
    const uint64_t low = engine_.next();
    const uint64_t high = engine_.next() >> (64 - bits);
    return high << 32 | low;
