// Gradients are counted as gathered.
// region: libmini/parallel/scatter_gather.cpp 2
        int64_t start = 0;
        for (size_t i = 0; i < shapes.size(); ++i) {
            const Tensor rows = ops::narrow(g, 0, start, rows_of(shapes[i]));
            start += rows_of(shapes[i]);
            if (!node.needs_input_grad(i)) continue;
            grads[i] = ops::reshape(copy_between(rows, to, devices[i]), shapes[i]);
            stats->bytes_gathered += moved_bytes(rows, to, devices[i]);
        }
