// Only the parameters are sent to all, the buffers stay each rank's own.
    for (const Tensor& parameter : model.parameters()) group.broadcast(parameter, 0);
