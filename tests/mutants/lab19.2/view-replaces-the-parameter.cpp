// The parameter gets the buffer's memory: tensors that share its own become stale.
// region: libmini/parallel/zero.cpp 2
    shard->work->wait();
    const std::vector<size_t>& indices = shard->values.indices();
    for (size_t slot = 0; slot < indices.size(); ++slot) {
        Tensor parameter = parameters[indices[slot]];
        parameter.set_data(shard->values.gradient(slot));
    }
