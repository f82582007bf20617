// The gradients are divided by the number of outputs.
// region: libmini/parallel/scatter_gather.cpp 2
        int64_t start = 0;
        for (size_t i = 0; i < shapes.size(); ++i) {
            const Tensor rows = ops::narrow(g, 0, start, rows_of(shapes[i]));
            start += rows_of(shapes[i]);
            if (!node.needs_input_grad(i)) continue;
            grads[i] = ops::reshape(copy_between(rows, to, devices[i]), shapes[i]);
            grads[i] = ops::clone(grads[i]);
            ops::mul_(grads[i], 1.0f / static_cast<float>(shapes.size()));
            stats->bytes_scattered += moved_bytes(rows, to, devices[i]);
        }
