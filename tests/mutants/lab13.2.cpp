// --- a-scalar-has-no-rows
// A scalar is asked for its rows.
// region: libmini/parallel/scatter_gather.cpp 1
    int64_t start = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
        Tensor part = ops::narrow(result, 0, start, outputs[i].size(0));
        ops::copy_(part, ops::reshape(outputs[i], part.shape()));
        stats->bytes_gathered += moved_bytes(outputs[i], devices[i], to);
        start += rows_of(shapes[i]);
    }

// --- all-on-the-first-rows
// All outputs are written to the first rows.
// region: libmini/parallel/scatter_gather.cpp 1
    int64_t start = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
        Tensor part = ops::narrow(result, 0, start, rows_of(shapes[i]));
        ops::copy_(part, ops::reshape(outputs[i], part.shape()));
        stats->bytes_gathered += moved_bytes(outputs[i], devices[i], to);
    }

// --- as-long-as-the-first
// Every output is thought to have as many rows as the first.
// region: libmini/parallel/scatter_gather.cpp 1
    int64_t start = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
        Tensor part = ops::narrow(result, 0, start, rows_of(shapes[i]));
        ops::copy_(part, ops::reshape(outputs[i], part.shape()));
        stats->bytes_gathered += moved_bytes(outputs[i], devices[i], to);
        start += rows_of(shapes[0]);
    }

// --- gradient-not-copied
// The gradient stays on the device of the result, and is not counted.
// region: libmini/parallel/scatter_gather.cpp 2
        int64_t start = 0;
        for (size_t i = 0; i < shapes.size(); ++i) {
            const Tensor rows = ops::narrow(g, 0, start, rows_of(shapes[i]));
            start += rows_of(shapes[i]);
            if (node.needs_input_grad(i)) grads[i] = ops::reshape(rows, shapes[i]);
        }

// --- gradients-averaged
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

// --- gradients-counted-as-gathered
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

// --- need-not-asked-for
// A gradient is copied for an output that needs none.
// region: libmini/parallel/scatter_gather.cpp 2
        int64_t start = 0;
        for (size_t i = 0; i < shapes.size(); ++i) {
            const Tensor rows = ops::narrow(g, 0, start, rows_of(shapes[i]));
            start += rows_of(shapes[i]);
            grads[i] = ops::reshape(copy_between(rows, to, devices[i]), shapes[i]);
            stats->bytes_scattered += moved_bytes(rows, to, devices[i]);
        }

// --- outputs-counted-as-scattered
// Outputs are counted as scattered.
// region: libmini/parallel/scatter_gather.cpp 1
    int64_t start = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
        Tensor part = ops::narrow(result, 0, start, rows_of(shapes[i]));
        ops::copy_(part, ops::reshape(outputs[i], part.shape()));
        stats->bytes_scattered += moved_bytes(outputs[i], devices[i], to);
        start += rows_of(shapes[i]);
    }

// --- rows-not-passed-over
// The rows of an output that needs no gradient are not passed over.
// region: libmini/parallel/scatter_gather.cpp 2
        int64_t start = 0;
        for (size_t i = 0; i < shapes.size(); ++i) {
            if (!node.needs_input_grad(i)) continue;
            const Tensor rows = ops::narrow(g, 0, start, rows_of(shapes[i]));
            start += rows_of(shapes[i]);
            grads[i] = ops::reshape(copy_between(rows, to, devices[i]), shapes[i]);
            stats->bytes_scattered += moved_bytes(rows, to, devices[i]);
        }

// --- scalar-stays-a-row
// The gradient of a scalar has one dimension.
// region: libmini/parallel/scatter_gather.cpp 2
        int64_t start = 0;
        for (size_t i = 0; i < shapes.size(); ++i) {
            const Tensor rows = ops::narrow(g, 0, start, rows_of(shapes[i]));
            start += rows_of(shapes[i]);
            if (!node.needs_input_grad(i)) continue;
            grads[i] = copy_between(rows, to, devices[i]);
            stats->bytes_scattered += moved_bytes(rows, to, devices[i]);
        }

// --- what-stays-is-counted
// The output of the result's own device is counted too.
// region: libmini/parallel/scatter_gather.cpp 1
    int64_t start = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
        Tensor part = ops::narrow(result, 0, start, rows_of(shapes[i]));
        ops::copy_(part, ops::reshape(outputs[i], part.shape()));
        stats->bytes_gathered += static_cast<int64_t>(outputs[i].bytes());
        start += rows_of(shapes[i]);
    }
