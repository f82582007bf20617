// A rank pads with its own first sample.
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples; ++k) {
        const int64_t position = replica.rank + k * replica.size;
        mine.push_back(entry(position < n ? position : replica.rank % n));
    }
    return mine;
