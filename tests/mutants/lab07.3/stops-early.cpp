// The loop ends one place early: the first two values never change places.
    for (uint64_t left = n; left > 2; --left) exchange(left - 1, below(left));
