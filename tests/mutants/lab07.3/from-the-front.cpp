// The places are filled from the front.
    for (uint64_t i = 0; i + 1 < n; ++i) exchange(i, i + below(n - i));
