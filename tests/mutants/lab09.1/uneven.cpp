// The first few ranks get one more than the others, whose collectives they then wait for.
    const bool one_more =
        replica_.rank < dataset_size % replica_.size && !options.drop_last;
    num_samples_ = dataset_size / replica_.size + (one_more ? 1 : 0);
