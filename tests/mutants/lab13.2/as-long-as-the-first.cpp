// Every output is thought to have as many rows as the first.
// region: libmini/parallel/scatter_gather.cpp 1
    int64_t start = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
        Tensor part = ops::narrow(result, 0, start, rows_of(shapes[i]));
        ops::copy_(part, ops::reshape(outputs[i], part.shape()));
        stats->bytes_gathered += moved_bytes(outputs[i], devices[i], to);
        start += rows_of(shapes[0]);
    }
