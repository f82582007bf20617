// The gradients of all nodes stay in arrived_ until the end of the pass.
// region: libmini/autograd/engine.cpp 2
        const Tensor gradient = arrived_[&node];
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(gradient);
        if (!retain_graph_) node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }
