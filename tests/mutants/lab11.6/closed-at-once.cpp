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
