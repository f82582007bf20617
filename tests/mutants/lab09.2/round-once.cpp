// The padding goes round the list once only, which is too little for a tiny dataset.
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples; ++k) {
        const int64_t position = replica.rank + k * replica.size;
        const int64_t padded = position < 2 * n ? position - n : n - 1;
        mine.push_back(entry(position < n ? position : padded));
    }
    return mine;
