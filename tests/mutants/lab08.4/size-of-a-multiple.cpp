// One batch is added for a remainder, even if there is none.
// region: libmini/data/batch_sampler.cpp 2
    return n / batch_size_ + (drop_last_ ? 0 : 1);
