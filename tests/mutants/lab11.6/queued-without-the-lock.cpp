// start() changes the queue without the lock, while the thread uses it.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    queue_.push_back({.operation = std::move(operation), .work = work});
    changed_.notify_one();
    return work;
