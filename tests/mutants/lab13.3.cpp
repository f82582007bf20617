// --- error-swallowed
// An exception ends the job silently.
// region: libmini/parallel/device_worker.cpp 1
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

// --- worker-not-woken
// The sleeping worker is not told of the job.
// region: libmini/parallel/device_worker.cpp 1
    std::packaged_task<void()> task([job = std::move(job), rank = logging::rank()] {
        logging::set_rank(rank);
        job();
    });
    std::future<void> done = task.get_future();
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(task));
    }
    return done;

// --- lock-held-while-running
// The lock is held while a job runs.
// region: libmini/parallel/device_worker.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        std::packaged_task<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        job();
    }

// --- newest-first
// The newest job is run first.
// region: libmini/parallel/device_worker.cpp 1
    std::packaged_task<void()> task([job = std::move(job), rank = logging::rank()] {
        logging::set_rank(rank);
        job();
    });
    std::future<void> done = task.get_future();
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_front(std::move(task));
    }
    changed_.notify_one();
    return done;

// --- newest-job-first
// The job posted last is run first.
// region: libmini/parallel/device_worker.cpp 2
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

// --- one-job-only
// The thread ends after its first job.
// region: libmini/parallel/device_worker.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (jobs_.empty()) return;
        std::packaged_task<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        return;
    }

// --- post-waits
// post waits until the job has run.
// region: libmini/parallel/device_worker.cpp 1
    std::packaged_task<void()> task([job = std::move(job), rank = logging::rank()] {
        logging::set_rank(rank);
        job();
    });
    std::future<void> done = task.get_future();
    {
        const std::lock_guard lock(mutex_);
        jobs_.push_back(std::move(task));
    }
    changed_.notify_one();
    done.wait();
    return done;

// --- rank-forgotten
// The rank of the poster is forgotten.
// region: libmini/parallel/device_worker.cpp 1
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

// --- rank-of-the-worker
// The rank is read on the worker, not on the poster's thread.
// region: libmini/parallel/device_worker.cpp 1
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

// --- run-by-the-caller
// The caller runs the job itself.
// region: libmini/parallel/device_worker.cpp 1
    std::packaged_task<void()> task(std::move(job));
    std::future<void> done = task.get_future();
    task();
    return done;

// --- stops-with-jobs-left
// The worker stops at once, and drops the jobs that are left.
// region: libmini/parallel/device_worker.cpp 2
    std::unique_lock lock(mutex_);
    while (true) {
        changed_.wait(lock, [this] { return stopping_ || !jobs_.empty(); });
        if (stopping_) return;
        std::packaged_task<void()> job = std::move(jobs_.front());
        jobs_.pop_front();
        lock.unlock();
        job();
        lock.lock();
    }

// --- waits-without-a-condition
// The thread waits for a signal that came before it waited.
// region: libmini/parallel/device_worker.cpp 2
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
