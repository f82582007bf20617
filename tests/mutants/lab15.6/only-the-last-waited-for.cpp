// Only the last all-reduce is waited for.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    if (!in_flight_.empty()) in_flight_.back().work->wait();
    for (InFlight& each : in_flight_)
        mini::ops::mul_(each.grad, 1.0f / static_cast<float>(group_.world_size()));
    in_flight_.clear();
