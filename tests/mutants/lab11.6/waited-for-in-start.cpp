// start() waits for the operation.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back({.operation = std::move(operation), .work = work});
    }
    changed_.notify_one();
    try {
        work->wait();
    } catch (...) {
    }
    return work;
