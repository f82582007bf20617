// All gradients lie at the start of the buffer, one over the other.
    int64_t numel = 0;
    for (const size_t index : indices_) numel += parameters[index].numel();
    buffer_ = Tensor::zeros({numel}, parameters[indices_.front()].dtype());

    int64_t offset = 0;
    for (const size_t index : indices_) {
        const Tensor& parameter = parameters[index];
        gradients_.push_back(ops::view(ops::narrow(buffer_, 0, 0, parameter.numel()),
                                       parameter.shape()));
        offset += parameter.numel();
    }
