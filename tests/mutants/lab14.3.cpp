// --- buffers-left-alone
// Only the parameters are sent to all, the buffers stay each rank's own.
    for (const Tensor& parameter : model.parameters()) group.broadcast(parameter, 0);

// --- every-rank-sends-its-own
// Each rank names itself as the root.
    for (const Tensor& parameter : model.parameters())
        group.broadcast(parameter, group.rank());
    for (const Tensor& buffer : model.buffers()) group.broadcast(buffer, group.rank());

// --- mean-instead-of-rank-0
// All ranks start with the mean of what they drew, whose numbers are too small.
    for (const Tensor& parameter : model.parameters())
        group.all_reduce(parameter, dist::ReduceOp::kAvg);
    for (const Tensor& buffer : model.buffers()) group.broadcast(buffer, 0);

// --- only-rank-0-sends
// Only rank 0 calls the broadcasts: the others do not receive.
    if (group.rank() == 0) {
        for (const Tensor& parameter : model.parameters()) group.broadcast(parameter, 0);
        for (const Tensor& buffer : model.buffers()) group.broadcast(buffer, 0);
    }

// --- rank-0-does-not-send
// Rank 0 has everything already and leaves: the others wait for it.
    if (group.rank() == 0) return;
    for (const Tensor& parameter : model.parameters()) group.broadcast(parameter, 0);
    for (const Tensor& buffer : model.buffers()) group.broadcast(buffer, 0);
