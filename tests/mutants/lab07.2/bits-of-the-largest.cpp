// As many bits as bound - 1 has, which is one too few for powers of two.
// region: libmini/random/python_random.cpp 2
    const int bits =
        bound < 3 ? 1 : static_cast<int>(std::bit_width(bound - 1));
    uint64_t pick = getrandbits(bits);
    while (pick >= bound) pick = getrandbits(bits);
    return pick;
