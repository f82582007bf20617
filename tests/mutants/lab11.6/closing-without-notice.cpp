// The destructor does not wake the thread, and waits for it forever.
// region: labs/11-collectives/simple_group.cpp 4
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    thread_.join();
