// The views are in the order of the list, not in that of the indices.
    std::ranges::sort(indices_);
    int64_t numel = 0;
    for (const size_t index : indices_) numel += parameters[index].numel();
    buffer_ = parameters[indices_.front()].new_zeros({numel});

    int64_t offset = 0;
    for (const size_t index : indices_) {
        const Tensor& parameter = parameters[index];
        gradients_.push_back(ops::view(ops::narrow(buffer_, 0, offset, parameter.numel()),
                                       parameter.shape()));
        offset += parameter.numel();
    }
