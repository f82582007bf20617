// The last rank takes all of the rest.
// region: libmini/data/distributed_eval_sampler.cpp 1
    const bool last = rank_ == num_replicas_ - 1;
    num_samples_ =
        dataset_size / num_replicas_ + (last ? dataset_size % num_replicas_ : 0);
