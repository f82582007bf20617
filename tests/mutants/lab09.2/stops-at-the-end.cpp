// A rank stops at the end of the list, so some have one sample fewer.
    static_cast<void>(num_samples);
    std::vector<int64_t> mine;
    for (int64_t position = replica.rank; position < n; position += replica.size)
        mine.push_back(entry(position));
    return mine;
