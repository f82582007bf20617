// --- a-copy-is-reduced
// A copy of the gradient is reduced, and thrown away.
// region: libmini/parallel/averaging_modules.cpp 1
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    in_flight_.push_back(group().all_reduce_async(ops::clone(grad)));

// --- average-of-the-sum
// The sum is averaged by kAvg, which divides after it may have overflowed.
// region: libmini/parallel/averaging_modules.cpp 1
    in_flight_.push_back(group().all_reduce_async(grad, dist::ReduceOp::kAvg));

// --- collective-on-rank-0-only
// Only rank 0 starts the all-reduce.
// region: libmini/parallel/averaging_modules.cpp 1
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    if (group().rank() == 0) in_flight_.push_back(group().all_reduce_async(grad));

// --- divided-twice
// The gradient is divided, and the all-reduce averages again.
// region: libmini/parallel/averaging_modules.cpp 1
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    in_flight_.push_back(group().all_reduce_async(grad, dist::ReduceOp::kAvg));

// --- done-not-recorded
// The completions are missing in the event log.
// region: libmini/parallel/averaging_modules.cpp 2
    for (const auto& work : in_flight_) work->wait();
    in_flight_.clear();

// --- list-not-cleared
// The list keeps the Works of earlier passes.
// region: libmini/parallel/averaging_modules.cpp 2
    for (size_t i = 0; i < in_flight_.size(); ++i) {
        in_flight_[i]->wait();
        record_done(i);
    }

// --- multiplied-after-the-start
// The gradient is changed while the all-reduce may already read it.
// region: libmini/parallel/averaging_modules.cpp 1
    in_flight_.push_back(group().all_reduce_async(grad));
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));

// --- no-division
// The gradients are summed and not divided.
// region: libmini/parallel/averaging_modules.cpp 1
    in_flight_.push_back(group().all_reduce_async(grad));

// --- no-wait-at-the-end
// The end forgets to wait.
// region: libmini/parallel/averaging_modules.cpp 2
    for (size_t i = 0; i < in_flight_.size(); ++i) record_done(i);
    in_flight_.clear();

// --- one-wait-too-few
// The loop stops before the last all-reduce.
// region: libmini/parallel/averaging_modules.cpp 2
    for (size_t i = 0; i + 1 < in_flight_.size(); ++i) {
        in_flight_[i]->wait();
        record_done(i);
    }
    in_flight_.clear();

// --- only-the-last-waited-for
// Only the last all-reduce is waited for.
// region: libmini/parallel/averaging_modules.cpp 2
    if (!in_flight_.empty()) in_flight_.back()->wait();
    for (size_t i = 0; i < in_flight_.size(); ++i) record_done(i);
    in_flight_.clear();

// --- parameter-not-gradient
// The parameter is averaged instead of its gradient.
// region: libmini/parallel/averaging_modules.cpp 1
    const Tensor parameter = trained()[index].second.detach();
    in_flight_.push_back(group().all_reduce_async(parameter, dist::ReduceOp::kAvg));

// --- waited-for-in-the-hook
// The hook waits: nothing overlaps.
// region: libmini/parallel/averaging_modules.cpp 1
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    in_flight_.push_back(group().all_reduce_async(grad));
    in_flight_.back()->wait();

// --- work-not-kept
// The Work is thrown away, so there is nothing to wait for.
// region: libmini/parallel/averaging_modules.cpp 1
    ops::mul_(grad, 1.0f / static_cast<float>(group().world_size()));
    static_cast<void>(group().all_reduce_async(grad));
