// No value may stay where it is (Sattolo's shuffle), which makes one long circle.
    for (uint64_t left = n; left > 1; --left) exchange(left - 1, below(left - 1));
