// The job posted last is run first.
// region: libmini/parallel/data_parallel_lane.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        std::packaged_task<void()> job = std::move(jobs_.back());
        jobs_.pop_back();
        lock.unlock();
        job();
        lock.lock();
    }
