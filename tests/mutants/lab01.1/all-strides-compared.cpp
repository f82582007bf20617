// Strides that are not used are compared, too.
// region: libmini/tensor/shape.cpp 2
    return strides == contiguous_strides(shape);
