// The word is shifted by the bits that are wanted, not by those that are not.
// region: libmini/random/python_random.cpp 1
    return bits == 32 ? engine_.next() : engine_.next() >> bits;
