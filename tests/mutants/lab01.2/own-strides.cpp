// The strides are contiguous, whatever was asked for.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->offset = offset;
    impl->numel = element_count(shape);
    impl->strides = contiguous_strides(shape);
    impl->shape = std::move(shape);
