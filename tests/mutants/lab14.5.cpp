// --- counters-averaged
// Counts of batches are summed like numbers.
    std::vector<dist::WorkHandle> under_way;
    for (const Tensor& parameter : module.parameters())
        under_way.push_back(group.all_reduce_async(parameter, dist::ReduceOp::kAvg));
    for (const Tensor& buffer : module.buffers())
        under_way.push_back(group.all_reduce_async(
            buffer,
            is_integer(buffer.dtype()) ? dist::ReduceOp::kSum : dist::ReduceOp::kAvg));
    for (const dist::WorkHandle& work : under_way) work->wait();

// --- models-summed
// The models are added up.
    std::vector<dist::WorkHandle> under_way;
    for (const Tensor& parameter : module.parameters())
        under_way.push_back(group.all_reduce_async(parameter, dist::ReduceOp::kSum));
    for (const Tensor& buffer : module.buffers())
        under_way.push_back(is_integer(buffer.dtype())
                                ? group.broadcast_async(buffer, 0)
                                : group.all_reduce_async(buffer, dist::ReduceOp::kSum));
    for (const dist::WorkHandle& work : under_way) work->wait();

// --- only-rank-0-averages
// Only rank 0 calls the collectives, and waits for the others.
    if (group.rank() != 0) return;
    std::vector<dist::WorkHandle> under_way;
    for (const Tensor& parameter : module.parameters())
        under_way.push_back(group.all_reduce_async(parameter, dist::ReduceOp::kAvg));
    for (const Tensor& buffer : module.buffers())
        under_way.push_back(is_integer(buffer.dtype())
                                ? group.broadcast_async(buffer, 0)
                                : group.all_reduce_async(buffer, dist::ReduceOp::kAvg));
    for (const dist::WorkHandle& work : under_way) work->wait();

// --- rank-0-for-all
// All ranks take rank 0's model.
    for (const Tensor& parameter : module.parameters()) group.broadcast(parameter, 0);
    for (const Tensor& buffer : module.buffers()) group.broadcast(buffer, 0);

// --- running-means-forgotten
// Parameters are averaged, buffers are not.
    std::vector<dist::WorkHandle> under_way;
    for (const Tensor& parameter : module.parameters())
        under_way.push_back(group.all_reduce_async(parameter, dist::ReduceOp::kAvg));
    for (const dist::WorkHandle& work : under_way) work->wait();
