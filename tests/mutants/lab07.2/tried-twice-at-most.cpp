// A number that is too large is drawn again once, and then kept.
// region: libmini/random/python_random.cpp 2
    const int bits = static_cast<int>(std::bit_width(bound));
    const uint64_t pick = getrandbits(bits);
    return pick < bound ? pick : getrandbits(bits);
