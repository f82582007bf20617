// --- a-copy
// The view has a storage of its own.
// region: libmini/tensor/tensor.cpp
    impl->storage = std::make_shared<Storage>(impl_->storage->bytes(), device());
    std::memcpy(impl->storage->data(), impl_->storage->data(), impl_->storage->bytes());
    impl->dtype = dtype();
    impl->offset = offset;
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);

// --- count-of-the-base
// The number of elements is that of the tensor.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->offset = offset;
    impl->numel = impl_->numel;
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);

// --- counted-too-late
// The elements are counted after the shape was moved away.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->offset = offset;
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);
    impl->numel = element_count(shape);

// --- dtype-forgotten
// The dtype stays float32.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->offset = offset;
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);

// --- empty-not-noticed
// A tensor without elements gets a last element.
// region: libmini/tensor/shape.cpp
    int64_t position = offset;
    for (size_t d = 0; d < shape.size(); ++d)
        position += (shape[d] - 1) * strides[d];
    return position;

// --- first-dimension-only
// Goes to the last index of the first dimension only.
// region: libmini/tensor/shape.cpp
    if (element_count(shape) == 0) return -1;
    if (shape.empty()) return offset;
    return checked_sum(offset, checked_product(shape[0] - 1, strides[0], shape), shape);

// --- last-of-contiguous
// The elements are taken to be contiguous.
// region: libmini/tensor/shape.cpp
    return element_count(shape) == 0
               ? -1
               : checked_sum(offset, element_count(shape) - 1, shape);

// --- offset-forgotten
// The offset is not added.
// region: libmini/tensor/shape.cpp
    if (element_count(shape) == 0) return -1;
    int64_t position = 0;
    for (size_t d = 0; d < shape.size(); ++d)
        position = checked_sum(position, checked_product(shape[d] - 1, strides[d], shape),
                               shape);
    return position;

// --- offset-not-set
// The offset stays 0.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);

// --- one-step-too-many
// Goes size steps in each dimension, not size - 1.
// region: libmini/tensor/shape.cpp
    if (element_count(shape) == 0) return -1;
    int64_t position = offset;
    for (size_t d = 0; d < shape.size(); ++d)
        position =
            checked_sum(position, checked_product(shape[d], strides[d], shape), shape);
    return position;

// --- own-strides
// The strides are contiguous, whatever was asked for.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->offset = offset;
    impl->numel = element_count(shape);
    impl->strides = contiguous_strides(shape);
    impl->shape = std::move(shape);

// --- relative-offset
// The offset counts from the first element of the view.
// region: libmini/tensor/tensor.cpp
    impl->storage = impl_->storage;
    impl->dtype = dtype();
    impl->offset = impl_->offset + offset;
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);

// --- sum-unchecked
// Only the products are checked for an overflow.
// region: libmini/tensor/shape.cpp
    if (element_count(shape) == 0) return -1;
    int64_t position = offset;
    for (size_t d = 0; d < shape.size(); ++d)
        position += checked_product(shape[d] - 1, strides[d], shape);
    return position;

// --- tensor-changed
// The tensor itself is changed, and returned.
// region: libmini/tensor/tensor.cpp
    impl = impl_;
    impl->offset = offset;
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);

// --- unchecked
// The position may overflow.
// region: libmini/tensor/shape.cpp
    if (element_count(shape) == 0) return -1;
    int64_t position = offset;
    for (size_t d = 0; d < shape.size(); ++d) position += (shape[d] - 1) * strides[d];
    return position;

// --- whole-state-copied
// Everything is copied first, the autograd state included.
// region: libmini/tensor/tensor.cpp
    *impl = *impl_;
    impl->offset = offset;
    impl->numel = element_count(shape);
    impl->shape = std::move(shape);
    impl->strides = std::move(strides);
