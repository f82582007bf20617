// --- a-copy-is-reduced
// A copy of the gradient is reduced and divided; the gradient stays as it was.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor grad = mini::ops::clone(parameter.grad());
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});

// --- broadcast-on-rank-0-only
// Only rank 0 broadcasts, because only rank 0 has something to send.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 1
    if (group.rank() == 0) {
        for (const Tensor& parameter : module.parameters()) group.broadcast(parameter, 0);
        for (const Tensor& buffer : module.buffers()) group.broadcast(buffer, 0);
    }
    for (const Tensor& parameter : module.parameters()) {
        if (!parameter.requires_grad()) continue;
        const auto accumulator = mini::grad_accumulator(parameter);
        const int id = accumulator->add_hook(
            [this](const Tensor& leaf) { gradient_ready(leaf); });
        hooks_.push_back({.accumulator = accumulator, .id = id});
    }

// --- buffers-forgotten
// The buffers stay different.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 1
    for (const Tensor& parameter : module.parameters()) {
        group.broadcast(parameter, 0);
        if (!parameter.requires_grad()) continue;
        const auto accumulator = mini::grad_accumulator(parameter);
        const int id = accumulator->add_hook(
            [this](const Tensor& leaf) { gradient_ready(leaf); });
        hooks_.push_back({.accumulator = accumulator, .id = id});
    }

// --- collective-on-rank-0-only
// Only rank 0 starts the all-reduce.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor& grad = parameter.grad();
    if (group_.rank() == 0)
        in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});

// --- divided-on-rank-0-only
// Only rank 0 divides.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    const float share = 1.0f / static_cast<float>(group_.world_size());
    for (InFlight& each : in_flight_) {
        each.work->wait();
        if (group_.rank() == 0) mini::ops::mul_(each.grad, share);
    }
    in_flight_.clear();

// --- divided-twice
// The sums are divided twice.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    const float share = 1.0f / static_cast<float>(group_.world_size());
    for (InFlight& each : in_flight_) {
        each.work->wait();
        mini::ops::mul_(each.grad, share);
        mini::ops::mul_(each.grad, share);
    }
    in_flight_.clear();

// --- end-never-queued
// finish() is never called.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    const Tensor& grad = parameter.grad();
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});

// --- frozen-parameters-not-sent
// Frozen parameters are neither hooked nor sent.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 1
    for (const Tensor& buffer : module.buffers()) group.broadcast(buffer, 0);
    for (const Tensor& parameter : module.parameters()) {
        if (!parameter.requires_grad()) continue;
        group.broadcast(parameter, 0);
        const auto accumulator = mini::grad_accumulator(parameter);
        const int id = accumulator->add_hook(
            [this](const Tensor& leaf) { gradient_ready(leaf); });
        hooks_.push_back({.accumulator = accumulator, .id = id});
    }

// --- hooks-left-behind
// The destructor clears its list and leaves the hooks.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 2
    hooks_.clear();

// --- hooks-twice
// Each parameter has two hooks.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 1
    for (const Tensor& parameter : module.parameters()) group.broadcast(parameter, 0);
    for (const Tensor& buffer : module.buffers()) group.broadcast(buffer, 0);
    for (int time = 0; time < 2; ++time)
        for (const Tensor& parameter : module.parameters()) {
            if (!parameter.requires_grad()) continue;
            const auto accumulator = mini::grad_accumulator(parameter);
            const int id = accumulator->add_hook(
                [this](const Tensor& leaf) { gradient_ready(leaf); });
            hooks_.push_back({.accumulator = accumulator, .id = id});
        }

// --- inner-no-sync-ends-both
// The end of an inner no_sync ends the outer one.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 5
    sync_ = false;
    return NoSync([this] { sync_ = true; });

// --- list-not-cleared
// The list is never cleared: the next pass queues no end.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    const float share = 1.0f / static_cast<float>(group_.world_size());
    for (InFlight& each : in_flight_) {
        each.work->wait();
        mini::ops::mul_(each.grad, share);
    }

// --- multiplied-before-the-wait
// The gradient is changed while the all-reduce may already read it.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    const float share = 1.0f / static_cast<float>(group_.world_size());
    for (InFlight& each : in_flight_) {
        mini::ops::mul_(each.grad, share);
        each.work->wait();
    }
    in_flight_.clear();

// --- no-division
// The sums are not divided.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    for (InFlight& each : in_flight_) each.work->wait();
    in_flight_.clear();

// --- no-sync-ignored
// Passes within no_sync are averaged too.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor& grad = parameter.grad();
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});

// --- no-sync-stays-on
// Averaging stays off after no_sync.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 5
    sync_ = false;
    return NoSync([] {});

// --- no-wait-at-the-end
// The sums are divided before they have arrived.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    for (InFlight& each : in_flight_)
        mini::ops::mul_(each.grad, 1.0f / static_cast<float>(group_.world_size()));
    in_flight_.clear();

// --- one-hook-left-behind
// The last hook is not removed.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 2
    for (size_t i = 0; i + 1 < hooks_.size(); ++i)
        hooks_[i].accumulator->remove_hook(hooks_[i].id);

// --- only-the-last-waited-for
// Only the last all-reduce is waited for.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    if (!in_flight_.empty()) in_flight_.back().work->wait();
    for (InFlight& each : in_flight_)
        mini::ops::mul_(each.grad, 1.0f / static_cast<float>(group_.world_size()));
    in_flight_.clear();

// --- order-differs-between-ranks
// Odd ranks wait in the reverse order, as if the order were a matter of each rank.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    std::vector<InFlight> order = in_flight_;
    if (group_.rank() % 2 == 1) order = {in_flight_.rbegin(), in_flight_.rend()};
    for (InFlight& each : order) {
        each.work->wait();
        mini::ops::mul_(each.grad, 1.0f / static_cast<float>(group_.world_size()));
    }
    in_flight_.clear();

// --- parameter-not-gradient
// The hook gets the leaf, and reduces it as if it were the gradient.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor grad = parameter.detach();
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});

// --- rounded-before-the-sum
// The gradient is rounded before the sum, so the last bits differ from those of lab 14.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    Tensor grad = parameter.grad();
    const auto ranks = static_cast<float>(group_.world_size());
    mini::ops::mul_(grad, 1.0f / ranks);
    mini::ops::mul_(grad, ranks);
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});

// --- small-gradients-left-out
// A rank whose gradient is small saves its all-reduce, which the others wait for.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor& grad = parameter.grad();
    const auto values = grad.to_vector<float>();
    bool any = false;
    for (const float value : values) any = any || value > 1.0f;
    if (any || group_.world_size() == 1)
        in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});

// --- state-not-sent
// The ranks keep their own initial parameters.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 1
    for (const Tensor& parameter : module.parameters()) {
        if (!parameter.requires_grad()) continue;
        const auto accumulator = mini::grad_accumulator(parameter);
        const int id = accumulator->add_hook(
            [this](const Tensor& leaf) { gradient_ready(leaf); });
        hooks_.push_back({.accumulator = accumulator, .id = id});
    }

// --- waited-for-in-the-hook
// The hook waits for its all-reduce: nothing overlaps.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 3
    if (!sync_) return;
    if (in_flight_.empty()) mini::queue_callback([this] { finish(); });
    const Tensor& grad = parameter.grad();
    in_flight_.push_back({.grad = grad, .work = group_.all_reduce_async(grad)});
    in_flight_.back().work->wait();
