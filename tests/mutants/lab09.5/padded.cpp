// Every rank counts the same number, so the last ones go past the end.
// region: libmini/data/distributed_eval_sampler.cpp 1
    num_samples_ = (dataset_size + num_replicas_ - 1) / num_replicas_;
