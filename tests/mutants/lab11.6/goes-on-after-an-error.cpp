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
