// The number of elements is that of the tensor.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->offset = offset;
    impl->numel = impl_->numel;
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);
