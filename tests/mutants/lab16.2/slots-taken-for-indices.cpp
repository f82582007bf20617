// Slot k of the bucket is taken for parameter k.
    int64_t numel = 0;
    for (size_t slot = 0; slot < indices_.size(); ++slot)
        numel += parameters[slot].numel();
    buffer_ = parameters[indices_.front()].new_zeros({numel});

    int64_t offset = 0;
    for (size_t slot = 0; slot < indices_.size(); ++slot) {
        const Tensor& parameter = parameters[slot];
        gradients_.push_back(ops::view(ops::narrow(buffer_, 0, offset, parameter.numel()),
                                       parameter.shape()));
        offset += parameter.numel();
    }
