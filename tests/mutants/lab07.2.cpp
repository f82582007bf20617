// --- bits-of-the-largest
// As many bits as bound - 1 has, which is one too few for powers of two.
// region: libmini/random/python_random.cpp 2
    const int bits =
        bound < 3 ? 1 : static_cast<int>(std::bit_width(bound - 1));
    uint64_t pick = getrandbits(bits);
    while (pick >= bound) pick = getrandbits(bits);
    return pick;

// --- bound-included
// A draw that is the bound itself is kept.
// region: libmini/random/python_random.cpp 2
    const int bits = static_cast<int>(std::bit_width(bound));
    uint64_t pick = getrandbits(bits);
    while (pick > bound) pick = getrandbits(bits);
    return pick;

// --- cut-off-at-the-bound
// A number that is too large becomes the largest that is allowed.
// region: libmini/random/python_random.cpp 2
    const uint64_t pick = getrandbits(static_cast<int>(std::bit_width(bound)));
    return pick < bound ? pick : bound - 1;

// --- low-bits
// The low bits of a word are taken, not the high ones.
// region: libmini/random/python_random.cpp 1
    return engine_.next() & (0xffffffffu >> (32 - bits));

// --- remainder
// A remainder instead of a new try: small numbers come more often.
// region: libmini/random/python_random.cpp 2
    return getrandbits(64) % bound;

// --- scaled
// A number in [0, 1) is multiplied by the bound, as many programs do.
// region: libmini/random/python_random.cpp 2
    return static_cast<uint64_t>(random() * static_cast<double>(bound));

// --- shifted-by-the-bits
// The word is shifted by the bits that are wanted, not by those that are not.
// region: libmini/random/python_random.cpp 1
    return bits == 32 ? engine_.next() : engine_.next() >> bits;

// --- tried-twice-at-most
// A number that is too large is drawn again once, and then kept.
// region: libmini/random/python_random.cpp 2
    const int bits = static_cast<int>(std::bit_width(bound));
    const uint64_t pick = getrandbits(bits);
    return pick < bound ? pick : getrandbits(bits);
