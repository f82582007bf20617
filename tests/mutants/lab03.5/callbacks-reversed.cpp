// The callbacks are called from the last to the first.
// region: libmini/autograd/engine.cpp 1
        senders_ = count_senders(root);
        arrived_[&root] = std::move(gradient);
        push(root);
        while (!ready_.empty()) {
            Node& node = *ready_.top().node;
            ready_.pop();
            step(node);
        }
        std::vector<std::function<void()>> all = callbacks_;
        for (size_t i = all.size(); i > 0; --i) all[i - 1]();
