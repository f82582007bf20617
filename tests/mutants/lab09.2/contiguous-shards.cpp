// Each rank takes a run of its own, so a global batch is not a run of the list.
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples; ++k)
        mine.push_back(entry((replica.rank * num_samples + k) % n));
    return mine;
