// One more also where the ranks divide the dataset.
    num_samples_ = dataset_size / replica_.size + (options.drop_last ? 0 : 1);
