// wait() throws an error that is already there, but does not wait.
// region: labs/11-collectives/simple_group.cpp 1
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);
