// Only rank 0 calls the broadcasts: the others do not receive.
    if (group.rank() == 0) {
        for (const Tensor& parameter : model.parameters()) group.broadcast(parameter, 0);
        for (const Tensor& buffer : model.buffers()) group.broadcast(buffer, 0);
    }
