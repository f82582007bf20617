// The gradient stays on the device of the result, and is not counted.
// region: libmini/parallel/scatter_gather.cpp 2
        int64_t start = 0;
        for (size_t i = 0; i < shapes.size(); ++i) {
            const Tensor rows = ops::narrow(g, 0, start, rows_of(shapes[i]));
            start += rows_of(shapes[i]);
            if (node.needs_input_grad(i)) grads[i] = ops::reshape(rows, shapes[i]);
        }
