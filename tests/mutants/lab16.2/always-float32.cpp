// The buffer is float32, whatever its parameters are.
    int64_t numel = 0;
    for (const size_t index : indices_) numel += parameters[index].numel();
    buffer_ = Tensor::zeros({numel});

    int64_t offset = 0;
    for (const size_t index : indices_) {
        const Tensor& parameter = parameters[index];
        gradients_.push_back(ops::view(ops::narrow(buffer_, 0, offset, parameter.numel()),
                                       parameter.shape()));
        offset += parameter.numel();
    }
