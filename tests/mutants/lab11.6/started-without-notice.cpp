// The sleeping thread is not told of a new operation.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back({.operation = std::move(operation), .work = work});
    }
    return work;
