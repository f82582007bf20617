// --- all-at-the-start
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

// --- always-float32
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

// --- gradients-are-copies
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

// --- in-list-order
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

// --- slots-taken-for-indices
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

// --- views-stay-flat
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

// --- whole-list
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
