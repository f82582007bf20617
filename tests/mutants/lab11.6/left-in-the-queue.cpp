// The destructor throws away what has not run yet.
// region: labs/11-collectives/simple_group.cpp 4
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
        queue_.clear();
    }
    changed_.notify_one();
    thread_.join();
