// Every place is exchanged with any place, so that some orders come more often.
    for (uint64_t left = n; left > 1; --left) exchange(left - 1, below(n));
