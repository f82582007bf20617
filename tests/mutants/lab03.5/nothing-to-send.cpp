// A node without a gradient returns early, and its inputs wait forever.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        if (!gradient.defined()) return;
        Grads contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }
