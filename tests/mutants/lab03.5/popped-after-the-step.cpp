// The top is removed after the step, when another node is on top.
// region: libmini/autograd/engine.cpp 1
        senders_ = count_senders(root);
        arrived_[&root] = std::move(gradient);
        push(root);
        while (!ready_.empty()) {
            Node& node = *ready_.top().node;
            step(node);
            ready_.pop();
        }
        for (size_t i = 0; i < callbacks_.size(); ++i) {
            const std::function<void()> callback = callbacks_[i];
            callback();
        }
