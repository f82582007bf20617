// Callbacks that are added by a callback are not called.
// region: libmini/autograd/engine.cpp 1
        senders_ = count_senders(root);
        arrived_[&root] = std::move(gradient);
        push(root);
        while (!ready_.empty()) {
            Node& node = *ready_.top().node;
            ready_.pop();
            step(node);
        }
        const size_t count = callbacks_.size();
        for (size_t i = 0; i < count; ++i) {
            const std::function<void()> callback = callbacks_[i];
            callback();
        }
