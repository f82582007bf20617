// The high bits of two words together are taken, where Python keeps the first word whole.
// region: libmini/random/python_random.cpp 1
    if (bits <= 32) return engine_.next() >> (32 - bits);
    const uint64_t low = engine_.next();
    const uint64_t high = engine_.next();
    return (high << 32 | low) >> (64 - bits);
