// Each rank takes a run, as if all had the same number.
// region: libmini/data/distributed_eval_sampler.cpp 2
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples_; ++k) mine.push_back(rank_ * num_samples_ + k);
    return mine;
