// The elements are taken to be contiguous.
// region: libmini/tensor/shape.cpp
    return element_count(shape) == 0
               ? -1
               : checked_sum(offset, element_count(shape) - 1, shape);
