// The low bits of a word are taken, not the high ones.
// region: libmini/random/python_random.cpp 1
    return engine_.next() & (0xffffffffu >> (32 - bits));
