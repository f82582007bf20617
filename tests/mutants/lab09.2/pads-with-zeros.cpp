// Places past the end are sample 0, where the list should begin again.
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples; ++k) {
        const int64_t position = replica.rank + k * replica.size;
        mine.push_back(position < n ? entry(position) : 0);
    }
    return mine;
