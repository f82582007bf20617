// The last operation is the first to run.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    {
        const std::lock_guard lock(mutex_);
        queue_.push_front({.operation = std::move(operation), .work = work});
    }
    changed_.notify_one();
    return work;
