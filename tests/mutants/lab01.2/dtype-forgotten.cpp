// The dtype stays float32.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->offset = offset;
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);
