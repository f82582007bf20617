// The tail is padded although it is to be dropped.
    num_samples_ =
        dataset_size / replica_.size + (dataset_size % replica_.size != 0 ? 1 : 0);
