// Everything is copied first, the autograd state included.
// region: libmini/tensor/tensor.cpp
    *impl = *impl_;
    impl->offset = offset;
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);
