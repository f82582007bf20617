// --- padded
// Every rank counts the same number, so the last ones go past the end.
// region: libmini/data/distributed_eval_sampler.cpp 1
    num_samples_ = (dataset_size + num_replicas_ - 1) / num_replicas_;

// --- rest-to-the-last-rank
// The last rank takes all of the rest.
// region: libmini/data/distributed_eval_sampler.cpp 1
    const bool last = rank_ == num_replicas_ - 1;
    num_samples_ =
        dataset_size / num_replicas_ + (last ? dataset_size % num_replicas_ : 0);

// --- runs
// Each rank takes a run, as if all had the same number.
// region: libmini/data/distributed_eval_sampler.cpp 2
    std::vector<int64_t> mine;
    for (int64_t k = 0; k < num_samples_; ++k) mine.push_back(rank_ * num_samples_ + k);
    return mine;

// --- tail-dropped
// Every rank counts the rounded-down number, so the tail is never evaluated.
// region: libmini/data/distributed_eval_sampler.cpp 1
    num_samples_ = dataset_size / num_replicas_;
