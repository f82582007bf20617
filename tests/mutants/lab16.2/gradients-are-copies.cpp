// What is written to a gradient never reaches the buffer that is averaged.
    int64_t numel = 0;
    for (const size_t index : indices_) numel += parameters[index].numel();
    buffer_ = Tensor::zeros({numel}, parameters[indices_.front()].dtype());

    int64_t offset = 0;
    for (const size_t index : indices_) {
        const Tensor& parameter = parameters[index];
        gradients_.push_back(Tensor::zeros(parameter.shape(), parameter.dtype()));
        offset += parameter.numel();
    }
