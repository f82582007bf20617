// The sampler goes to the next epoch itself, set_epoch or not.
// region: libmini/data/distributed_sampler.cpp 2
    const std::vector<uint32_t> order = randperm_u32(n, generator);
    ++epoch_;
    return take_share(n, replica_, num_samples_,
                      [&](int64_t i) { return int64_t{order[static_cast<size_t>(i)]}; });
