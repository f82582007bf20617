// The offset counts from the first element of the view.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->offset = impl_->offset + offset;
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);
