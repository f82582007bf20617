// A node that got no gradient is not released.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) {
            contributions = node.apply(std::move(gradient));
            if (!retain_graph_) node.release();
        }
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }
