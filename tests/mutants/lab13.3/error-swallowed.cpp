// An exception ends the job silently.
// region: libmini/parallel/data_parallel_lane.cpp 1
    std::packaged_task<void()> task([job = std::move(job), rank = logging::rank()] {
        logging::set_rank(rank);
        try {
            job();
        } catch (...) {
        }
    });
    std::future<void> done = task.get_future();
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(task));
    }
    changed_.notify_one();
    return done;
