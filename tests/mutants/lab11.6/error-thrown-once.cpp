// Only the first wait throws.
// region: labs/11-collectives/simple_group.cpp 1
    std::unique_lock lock(mutex_);
    completed_.wait(lock, [this] { return is_completed_; });
    static std::exception_ptr last;
    if (error_ && error_ != last) {
        last = error_;
        std::rethrow_exception(error_);
    }
