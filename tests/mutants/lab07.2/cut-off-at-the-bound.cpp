// A number that is too large becomes the largest that is allowed.
// region: libmini/random/python_random.cpp 2
    const uint64_t pick = getrandbits(static_cast<int>(std::bit_width(bound)));
    return pick < bound ? pick : bound - 1;
