// --- a-thread-for-each
// Each operation gets a thread of its own: their order is lost.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    std::thread([this, work, operation = std::move(operation)] {
        std::exception_ptr error;
        try {
            operation(transport_);
        } catch (...) {
            error = std::current_exception();
        }
        work->complete(error);
    }).detach();
    return work;

// --- closed-at-once
// The thread returns when the group closes, with operations still in the queue.
// region: labs/11-collectives/simple_group.cpp 6
        changed_.wait(lock, [this] { return !queue_.empty() || is_closing_; });
        if (is_closing_) return;
        const Queued next = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        try {
            if (!failure) next.operation(transport_);
        } catch (...) {
            failure = std::current_exception();
        }
        next.work->complete(failure);

// --- closing-without-notice
// The destructor does not wake the thread, and waits for it forever.
// region: labs/11-collectives/simple_group.cpp 4
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    thread_.join();

// --- closing-without-the-lock
// The destructor writes without the lock what the thread reads under it.
// region: labs/11-collectives/simple_group.cpp 4
    is_closing_ = true;
    changed_.notify_one();
    thread_.join();

// --- completed-before-it-ran
// The Work is completed, then the operation runs.
// region: labs/11-collectives/simple_group.cpp 6
        changed_.wait(lock, [this] { return !queue_.empty() || is_closing_; });
        if (queue_.empty()) return;
        const Queued next = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        next.work->complete(failure);
        try {
            if (!failure) next.operation(transport_);
        } catch (...) {
            failure = std::current_exception();
        }

// --- completed-without-the-lock
// complete() writes without the lock what wait() reads under it.
// region: labs/11-collectives/simple_group.cpp 2
    error_ = std::move(error);
    is_completed_ = true;
    completed_.notify_all();

// --- error-not-kept
// complete() forgets the error.
// region: labs/11-collectives/simple_group.cpp 2
    const std::lock_guard lock(mutex_);
    is_completed_ = true;
    completed_.notify_all();

// --- error-swallowed
// wait() waits, but the error does not reach the caller.
// region: labs/11-collectives/simple_group.cpp 1
    std::unique_lock lock(mutex_);
    completed_.wait(lock, [this] { return is_completed_; });

// --- error-thrown-once
// Only the first wait throws.
// region: labs/11-collectives/simple_group.cpp 1
    std::unique_lock lock(mutex_);
    completed_.wait(lock, [this] { return is_completed_; });
    static std::exception_ptr last;
    if (error_ && error_ != last) {
        last = error_;
        std::rethrow_exception(error_);
    }

// --- goes-on-after-an-error
// Operations after a failed one run as if nothing had happened.
// region: labs/11-collectives/simple_group.cpp 6
        changed_.wait(lock, [this] { return !queue_.empty() || is_closing_; });
        if (queue_.empty()) return;
        const Queued next = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        std::exception_ptr error;
        try {
            next.operation(transport_);
        } catch (...) {
            error = std::current_exception();
        }
        next.work->complete(error);

// --- join-under-the-lock
// The destructor holds the mutex that the thread needs to end.
// region: labs/11-collectives/simple_group.cpp 4
    const std::lock_guard lock(mutex_);
    is_closing_ = true;
    changed_.notify_one();
    thread_.join();

// --- left-in-the-queue
// The destructor throws away what has not run yet.
// region: labs/11-collectives/simple_group.cpp 4
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
        queue_.clear();
    }
    changed_.notify_one();
    thread_.join();

// --- never-completed
// The Work is woken, but not marked as completed.
// region: labs/11-collectives/simple_group.cpp 2
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    completed_.notify_all();

// --- only-one-waiter-woken
// complete() wakes one of the threads that wait: the others never return.
// region: labs/11-collectives/simple_group.cpp 2
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    is_completed_ = true;
    completed_.notify_one();

// --- only-std-exceptions
// Only what is derived from std::exception is caught: anything else ends the process.
// region: labs/11-collectives/simple_group.cpp 6
        changed_.wait(lock, [this] { return !queue_.empty() || is_closing_; });
        if (queue_.empty()) return;
        const Queued next = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        try {
            if (!failure) next.operation(transport_);
        } catch (const std::exception&) {
            failure = std::current_exception();
        }
        next.work->complete(failure);

// --- queued-at-the-front
// The last operation is the first to run.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    {
        const std::lock_guard lock(mutex_);
        queue_.push_front({.operation = std::move(operation), .work = work});
    }
    changed_.notify_one();
    return work;

// --- queued-without-the-lock
// start() changes the queue without the lock, while the thread uses it.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    queue_.push_back({.operation = std::move(operation), .work = work});
    changed_.notify_one();
    return work;

// --- run-by-the-caller
// The caller runs the operation itself, and blocks.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    std::exception_ptr error;
    try {
        operation(transport_);
    } catch (...) {
        error = std::current_exception();
    }
    work->complete(error);
    return work;

// --- run-under-the-lock
// The mutex is locked while the operation runs.
// region: labs/11-collectives/simple_group.cpp 6
        changed_.wait(lock, [this] { return !queue_.empty() || is_closing_; });
        if (queue_.empty()) return;
        const Queued next = std::move(queue_.front());
        queue_.pop_front();
        try {
            if (!failure) next.operation(transport_);
        } catch (...) {
            failure = std::current_exception();
        }
        next.work->complete(failure);

// --- silent-after-an-error
// Operations after a failed one do not run, and succeed.
// region: labs/11-collectives/simple_group.cpp 6
        changed_.wait(lock, [this] { return !queue_.empty() || is_closing_; });
        if (queue_.empty()) return;
        const Queued next = std::move(queue_.front());
        queue_.pop_front();
        lock.unlock();
        if (failure) {
            next.work->complete(nullptr);
            continue;
        }
        try {
            next.operation(transport_);
        } catch (...) {
            failure = std::current_exception();
        }
        next.work->complete(failure);

// --- started-without-notice
// The sleeping thread is not told of a new operation.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back({.operation = std::move(operation), .work = work});
    }
    return work;

// --- thread-not-joined
// The thread is left behind, and uses members that no longer exist.
// region: labs/11-collectives/simple_group.cpp 4
    {
        const std::lock_guard lock(mutex_);
        is_closing_ = true;
    }
    changed_.notify_one();
    thread_.detach();

// --- wait-does-not-wait
// wait() throws an error that is already there, but does not wait.
// region: labs/11-collectives/simple_group.cpp 1
    const std::lock_guard lock(mutex_);
    if (error_) std::rethrow_exception(error_);

// --- waited-for-in-start
// start() waits for the operation.
// region: labs/11-collectives/simple_group.cpp 5
    const auto work = std::make_shared<Work>();
    {
        const std::lock_guard lock(mutex_);
        queue_.push_back({.operation = std::move(operation), .work = work});
    }
    changed_.notify_one();
    try {
        work->wait();
    } catch (...) {
    }
    return work;

// --- waiter-not-woken
// complete() wakes no one: a wait that began earlier never ends.
// region: labs/11-collectives/simple_group.cpp 2
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    is_completed_ = true;
