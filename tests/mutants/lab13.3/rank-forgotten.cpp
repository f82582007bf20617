// The rank of the poster is forgotten.
// region: libmini/parallel/data_parallel_lane.cpp 1
    std::packaged_task<void()> task([job = std::move(job)] {
        job();
    });
    std::future<void> done = task.get_future();
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(task));
    }
    changed_.notify_one();
    return done;
