// Both words are drawn in one expression: which one comes first is the compiler's choice.
// region: libmini/random/python_random.cpp 1
    if (bits <= 32) return engine_.next() >> (32 - bits);
    return uint64_t{engine_.next() >> (64 - bits)} << 32 | engine_.next();
