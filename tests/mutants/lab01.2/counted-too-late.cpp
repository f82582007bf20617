// The elements are counted after the shape was moved away.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->offset = offset;
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);
    impl->numel = element_count(shape);
