// Every rank counts the rounded-down number, so the tail is never evaluated.
// region: libmini/data/distributed_eval_sampler.cpp 1
    num_samples_ = dataset_size / num_replicas_;
