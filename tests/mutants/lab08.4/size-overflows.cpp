// The quotient is rounded up by a sum, which a huge batch_size makes overflow.
// region: libmini/data/batch_sampler.cpp 2
    return drop_last_ ? n / batch_size_ : (n + batch_size_ - 1) / batch_size_;
