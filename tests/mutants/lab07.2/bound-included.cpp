// A draw that is the bound itself is kept.
// region: libmini/random/python_random.cpp 2
    const int bits = static_cast<int>(std::bit_width(bound));
    uint64_t pick = getrandbits(bits);
    while (pick > bound) pick = getrandbits(bits);
    return pick;
