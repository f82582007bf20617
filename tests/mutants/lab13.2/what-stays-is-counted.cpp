// The output of the result's own device is counted too.
// region: libmini/parallel/scatter_gather.cpp 1
    int64_t start = 0;
    for (size_t i = 0; i < outputs.size(); ++i) {
        Tensor part = ops::narrow(result, 0, start, rows_of(shapes[i]));
        ops::copy_(part, ops::reshape(outputs[i], part.shape()));
        stats->bytes_gathered += static_cast<int64_t>(outputs[i].bytes());
        start += rows_of(shapes[i]);
    }
