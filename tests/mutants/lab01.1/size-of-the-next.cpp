// A stride is the size of the next dimension only.
// region: libmini/tensor/shape.cpp 1
    element_count(shape);
    for (size_t d = 0; d < shape.size(); ++d)
        strides[d] = d + 1 < shape.size() ? std::max<int64_t>(shape[d + 1], 1) : 1;
