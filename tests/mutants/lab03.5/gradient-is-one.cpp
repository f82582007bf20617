// The pass begins with ones instead of the given gradient.
// region: libmini/autograd/engine.cpp 1
        senders_ = count_senders(root);
        arrived_[&root] = Tensor::ones(gradient.shape());
        push(root);
        while (!ready_.empty()) {
            Node& node = *ready_.top().node;
            ready_.pop();
            step(node);
        }
        for (size_t i = 0; i < callbacks_.size(); ++i) {
            const std::function<void()> callback = callbacks_[i];
            callback();
        }
