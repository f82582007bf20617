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
