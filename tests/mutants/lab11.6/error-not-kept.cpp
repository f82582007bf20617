// complete() forgets the error.
// region: labs/11-collectives/simple_group.cpp 2
    const std::lock_guard lock(mutex_);
    is_completed_ = true;
    completed_.notify_all();
