// Each rank names itself as the root.
    for (const Tensor& parameter : model.parameters())
        group.broadcast(parameter, group.rank());
    for (const Tensor& buffer : model.buffers()) group.broadcast(buffer, group.rank());
