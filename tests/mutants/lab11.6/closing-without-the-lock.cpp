// The destructor writes without the lock what the thread reads under it.
// region: labs/11-collectives/simple_group.cpp 4
    is_closing_ = true;
    changed_.notify_one();
    thread_.join();
