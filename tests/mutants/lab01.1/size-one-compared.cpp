// The stride of a dimension of size 1 is compared.
// region: libmini/tensor/shape.cpp 2
    return element_count(shape) == 0 || strides == contiguous_strides(shape);
