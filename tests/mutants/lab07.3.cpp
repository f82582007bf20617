// --- any-place
// Every place is exchanged with any place, so that some orders come more often.
    for (uint64_t left = n; left > 1; --left) exchange(left - 1, below(n));

// --- draws-for-the-last
// One number is drawn for the place that has no choice left.
    for (uint64_t left = n; left > 0; --left) exchange(left - 1, below(left));

// --- from-the-front
// The places are filled from the front.
    for (uint64_t i = 0; i + 1 < n; ++i) exchange(i, i + below(n - i));

// --- never-stays
// No value may stay where it is (Sattolo's shuffle), which makes one long circle.
    for (uint64_t left = n; left > 1; --left) exchange(left - 1, below(left - 1));

// --- stops-early
// The loop ends one place early: the first two values never change places.
    for (uint64_t left = n; left > 2; --left) exchange(left - 1, below(left));
