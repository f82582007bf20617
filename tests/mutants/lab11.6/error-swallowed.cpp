// wait() waits, but the error does not reach the caller.
// region: labs/11-collectives/simple_group.cpp 1
    std::unique_lock lock(mutex_);
    completed_.wait(lock, [this] { return is_completed_; });
