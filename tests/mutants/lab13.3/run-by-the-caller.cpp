// The caller runs the job itself.
// region: libmini/parallel/data_parallel_lane.cpp 1
    std::packaged_task<void()> task(std::move(job));
    std::future<void> done = task.get_future();
    task();
    return done;
