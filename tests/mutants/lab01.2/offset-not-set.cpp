// The offset stays 0.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);
