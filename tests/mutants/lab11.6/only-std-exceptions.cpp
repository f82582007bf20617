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
