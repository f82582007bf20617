// The destructor holds the mutex that the thread needs to end.
// region: labs/11-collectives/simple_group.cpp 4
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
    changed_.notify_one();
    thread_.join();
