// --- contiguous-shards
// Each rank takes a run of its own, so a global batch is not a run of the list.
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples; ++k)
        mine.push_back(entry((replica.rank * num_samples + k) % n));
    return mine;

// --- counted-from-one
// Ranks are counted from 1, so the first sample of the list comes last.
    std::vector<int64_t> mine;
    for (int64_t k = 1; k <= num_samples; ++k)
        mine.push_back(entry((replica.rank + 1 + (k - 1) * replica.size) % n));
    return mine;

// --- pads-with-its-own
// A rank pads with its own first sample.
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples; ++k) {
        const int64_t position = replica.rank + k * replica.size;
        mine.push_back(entry(position < n ? position : replica.rank % n));
    }
    return mine;

// --- pads-with-the-last
// The last sample is repeated instead of the first few.
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples; ++k)
        mine.push_back(entry(replica.rank + k * replica.size < n
                                 ? replica.rank + k * replica.size
                                 : n - 1));
    return mine;

// --- pads-with-zeros
// Places past the end are sample 0, where the list should begin again.
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples; ++k) {
        const int64_t position = replica.rank + k * replica.size;
        mine.push_back(position < n ? entry(position) : 0);
    }
    return mine;

// --- round-once
// The padding goes round the list once only, which is too little for a tiny dataset.
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples; ++k) {
        const int64_t position = replica.rank + k * replica.size;
        const int64_t padded = position < 2 * n ? position - n : n - 1;
        mine.push_back(entry(position < n ? position : padded));
    }
    return mine;

// --- stops-at-the-end
// A rank stops at the end of the list, so some have one sample fewer.
    static_cast<void>(num_samples);
    std::vector<int64_t> mine;
    for (int64_t position = replica.rank; position < n; position += replica.size)
        mine.push_back(entry(position));
    return mine;
