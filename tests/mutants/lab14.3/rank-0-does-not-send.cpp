// Rank 0 has everything already and leaves: the others wait for it.
    if (group.rank() == 0) return;
    for (const Tensor& parameter : model.parameters()) group.broadcast(parameter, 0);
    for (const Tensor& buffer : model.buffers()) group.broadcast(buffer, 0);
