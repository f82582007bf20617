// The callbacks are called before the last nodes are processed.
// region: libmini/autograd/engine.cpp 1
        senders_ = count_senders(root);
        arrived_[&root] = std::move(gradient);
        push(root);
        while (!ready_.empty()) {
            Node& node = *ready_.top().node;
            ready_.pop();
            step(node);
            for (const auto& callback : std::exchange(callbacks_, {})) callback();
        }
        for (size_t i = 0; i < callbacks_.size(); ++i) {
            const std::function<void()> callback = callbacks_[i];
            callback();
        }
