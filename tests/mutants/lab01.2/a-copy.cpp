// The view has a storage of its own.
// region: libmini/tensor/tensor.cpp
    impl->storage = std::make_shared<Storage>(impl_->storage->bytes(), device());
    std::memcpy(impl->storage->data(), impl_->storage->data(), impl_->storage->bytes());
    impl->dtype = dtype();
    impl->offset = offset;
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);
