// Odd ranks wait in the reverse order, as if the order were a matter of each rank.
// region: labs/15-ddp-by-hooks/simple_ddp.cpp 4
    std::vector<InFlight> order = in_flight_;
    if (group_.rank() % 2 == 1) order = {in_flight_.rbegin(), in_flight_.rend()};
    for (InFlight& each : order) {
        each.work->wait();
        mini::ops::mul_(each.grad, 1.0f / static_cast<float>(group_.world_size()));
    }
    in_flight_.clear();
