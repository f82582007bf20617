// All ranks start with the mean of what they drew, whose numbers are too small.
    for (const Tensor& parameter : model.parameters())
        group.all_reduce(parameter, dist::ReduceOp::kAvg);
    for (const Tensor& buffer : model.buffers()) group.broadcast(buffer, 0);
