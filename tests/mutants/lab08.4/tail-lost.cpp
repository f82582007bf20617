// The last, shorter batch is always dropped.
// region: libmini/data/batch_sampler.cpp 1
    std::vector<std::vector<int64_t>> batches;
    for (int64_t begin = 0; n - begin >= batch_size_; begin += batch_size_)
        batches.emplace_back(order.begin() + begin, order.begin() + begin + batch_size_);
    return batches;
