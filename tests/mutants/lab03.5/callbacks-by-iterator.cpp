// A callback that adds another invalidates the loop's iterator.
// region: libmini/autograd/engine.cpp 1
        senders_ = count_senders(root);
        arrived_[&root] = std::move(gradient);
        push(root);
        while (!ready_.empty()) {
            Node& node = *ready_.top().node;
            ready_.pop();
            step(node);
        }
        for (const auto& callback : callbacks_) callback();
