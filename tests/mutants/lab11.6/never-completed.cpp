// The Work is woken, but not marked as completed.
// region: labs/11-collectives/simple_group.cpp 2
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    completed_.notify_all();
