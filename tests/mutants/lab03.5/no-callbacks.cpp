// No callback is called.
// region: libmini/autograd/engine.cpp 1
        senders_ = count_senders(root);
        arrived_[&root] = std::move(gradient);
        push(root);
        while (!ready_.empty()) {
            Node& node = *ready_.top().node;
            ready_.pop();
            step(node);
        }
