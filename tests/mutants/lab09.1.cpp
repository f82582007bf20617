// --- always-one-more
// One more also where the ranks divide the dataset.
    num_samples_ = dataset_size / replica_.size + (options.drop_last ? 0 : 1);

// --- double-ceil
// The quotient is rounded up as a double, which has 53 bits.
    const double quotient =
        static_cast<double>(dataset_size) / static_cast<double>(replica_.size);
    num_samples_ = static_cast<int64_t>(quotient);
    if (!options.drop_last && static_cast<double>(num_samples_) < quotient)
        ++num_samples_;

// --- drop-last-ignored
// The tail is padded although it is to be dropped.
    num_samples_ =
        dataset_size / replica_.size + (dataset_size % replica_.size != 0 ? 1 : 0);

// --- float-ceil
// The quotient is rounded up as a float, which has 24 bits.
    const float quotient =
        static_cast<float>(dataset_size) / static_cast<float>(replica_.size);
    num_samples_ = static_cast<int64_t>(quotient);
    if (!options.drop_last && static_cast<float>(num_samples_) < quotient) ++num_samples_;

// --- uneven
// The first few ranks get one more than the others, whose collectives they then wait for.
    const bool one_more =
        replica_.rank < dataset_size % replica_.size && !options.drop_last;
    num_samples_ = dataset_size / replica_.size + (one_more ? 1 : 0);
