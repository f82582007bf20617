// One number is drawn for the place that has no choice left.
    for (uint64_t left = n; left > 0; --left) exchange(left - 1, below(left));
