// drop_last drops the last batch, full or not.
// region: libmini/data/batch_sampler.cpp 1
    std::vector<std::vector<int64_t>> batches;
    for (int64_t begin = 0; begin < n;) {
        const int64_t length = std::min(batch_size_, n - begin);
        batches.emplace_back(order.begin() + begin, order.begin() + begin + length);
        begin += length;
    }
    if (drop_last_ && !batches.empty()) batches.pop_back();
    return batches;
