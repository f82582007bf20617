// complete() wakes one of the threads that wait: the others never return.
// region: labs/11-collectives/simple_group.cpp 2
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    is_completed_ = true;
    completed_.notify_one();
