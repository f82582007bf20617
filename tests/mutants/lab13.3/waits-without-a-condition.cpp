// The thread waits for a signal that came before it waited.
// region: libmini/parallel/data_parallel_lane.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock);
        if (jobs_.empty()) return;
        std::packaged_task<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        lock.lock();
    }
