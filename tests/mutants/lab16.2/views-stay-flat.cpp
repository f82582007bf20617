// A view has the right elements, but not the shape of its parameter.
    int64_t numel = 0;
    for (const size_t index : indices_) numel += parameters[index].numel();
    buffer_ = parameters[indices_.front()].new_zeros({numel});

    int64_t offset = 0;
    for (const size_t index : indices_) {
        const Tensor& parameter = parameters[index];
        gradients_.push_back(ops::narrow(buffer_, 0, offset, parameter.numel()));
        offset += parameter.numel();
    }
