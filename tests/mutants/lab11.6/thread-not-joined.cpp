// The thread is left behind, and uses members that no longer exist.
// region: labs/11-collectives/simple_group.cpp 4
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    changed_.notify_one();
    thread_.detach();
