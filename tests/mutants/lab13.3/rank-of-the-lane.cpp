// The rank is read on the lane, not on the poster's thread.
// region: libmini/parallel/data_parallel_lane.cpp 1
    std::packaged_task<void()> task([job = std::move(job)] {
        logging::set_rank(logging::rank());
        job();
    });
    std::future<void> done = task.get_future();
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(task));
    }
    changed_.notify_one();
    return done;
