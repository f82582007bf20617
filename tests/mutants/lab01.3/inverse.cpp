// Dimension d of x becomes dimension dims[d], the inverse order.
// region: libmini/tensor/view_ops.cpp
    shape.resize(dims.size());
    strides.resize(dims.size());
    for (size_t i = 0; i < dims.size(); ++i) {
        const size_t d = dimension("permute", x.shape(), dims[i]);
        check_shape(!seen[d], "permute: a dimension is named twice");
        seen[d] = true;
        shape[d] = x.shape()[i];
        strides[d] = x.strides()[i];
    }
