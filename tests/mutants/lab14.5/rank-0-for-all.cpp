// All ranks take rank 0's model.
    for (const Tensor& parameter : module.parameters()) group.broadcast(parameter, 0);
    for (const Tensor& buffer : module.buffers()) group.broadcast(buffer, 0);
