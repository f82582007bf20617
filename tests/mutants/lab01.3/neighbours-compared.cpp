// Only equal neighbours are noticed.
// region: libmini/tensor/view_ops.cpp
    for (size_t i = 0; i < dims.size(); ++i) {
        check_shape(i == 0 || dims[i] != dims[i - 1], "permute: named twice");
        const size_t d = dimension("permute", x.shape(), dims[i]);
        shape.push_back(x.shape()[d]);
        strides.push_back(x.strides()[d]);
    }
