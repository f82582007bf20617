// All gradients lie at the start of the buffer, one over the other.
// region: libmini/parallel/bucket.cpp
    int64_t numel = 0;
    for (const size_t place : places_) numel += parameters[place].numel();
    buffer_ = Tensor::zeros({numel}, parameters[places_.front()].dtype());

    int64_t offset = 0;
    for (const size_t place : places_) {
        const Tensor& parameter = parameters[place];
        gradients_.push_back(ops::view(ops::narrow(buffer_, 0, 0, parameter.numel()),
                                       parameter.shape()));
        offset += parameter.numel();
    }
