// A rank compares with its right neighbour only.
// region: libmini/distributed/backends/verify.cpp 2
    CollectiveHistory history;
    history.begin(collective);
    const auto right = static_cast<size_t>((rank() + 1) % world_size());
    if (world_size() > 1)
        history.check_same(rank(), static_cast<int>(right), received_[right].collective);
