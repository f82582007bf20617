// The values are copied without a new version: autograd does not see the change.
// region: libmini/parallel/zero.cpp 2
    shard->work->wait();
    const std::vector<size_t>& indices = shard->values.indices();
    for (size_t slot = 0; slot < indices.size(); ++slot) {
        Tensor parameter = parameters[indices[slot]];
        std::ranges::copy(shard->values.gradient(slot).span<float>(),
                          parameter.span<float>().begin());
    }
