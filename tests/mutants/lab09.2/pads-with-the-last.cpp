// The last sample is repeated instead of the first few.
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples; ++k)
        mine.push_back(entry(replica.rank + k * replica.size < n
                                 ? replica.rank + k * replica.size
                                 : n - 1));
    return mine;
