// The values are copied out of the buffer before they have arrived.
// region: libmini/parallel/zero.cpp 2
    const std::vector<size_t>& indices = shard->values.indices();
    for (size_t slot = 0; slot < indices.size(); ++slot) {
        Tensor parameter = parameters[indices[slot]];
        ops::copy_(parameter, shard->values.gradient(slot));
    }
    shard->work->wait();
