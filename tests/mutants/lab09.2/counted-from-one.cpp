// Ranks are counted from 1, so the first sample of the list comes last.
    std::vector<int64_t> mine;
    for (int64_t k = 1; k <= num_samples; ++k)
        mine.push_back(entry((replica.rank + 1 + (k - 1) * replica.size) % n));
    return mine;
