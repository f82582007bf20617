// What is written to a gradient never reaches the buffer that is averaged.
// region: libmini/parallel/bucket.cpp
    int64_t numel = 0;
    for (const size_t place : places_) numel += parameters[place].numel();
    buffer_ = Tensor::zeros({numel}, parameters[places_.front()].dtype());

    int64_t offset = 0;
    for (const size_t place : places_) {
        const Tensor& parameter = parameters[place];
        gradients_.push_back(Tensor::zeros(parameter.shape(), parameter.dtype()));
        offset += parameter.numel();
    }
