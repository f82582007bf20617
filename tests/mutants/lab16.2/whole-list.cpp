// The buffer has room for all parameters, not only for those of this bucket.
    int64_t numel = 0;
    for (const Tensor& parameter : parameters) numel += parameter.numel();
    buffer_ = parameters[indices_.front()].new_zeros({numel});

    int64_t offset = 0;
    for (const size_t index : indices_) {
        const Tensor& parameter = parameters[index];
        gradients_.push_back(ops::view(ops::narrow(buffer_, 0, offset, parameter.numel()),
                                       parameter.shape()));
        offset += parameter.numel();
    }
