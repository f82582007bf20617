// --- always-released
// The saved values are freed in spite of retain_graph.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }

// --- callbacks-by-iterator
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

// --- callbacks-first
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

// --- callbacks-reversed
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

// --- called-without-a-gradient
// A node is called although nothing came.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (!gradient.defined()) gradient = Tensor::zeros({1});
        contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }

// --- gradient-is-one
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

// --- gradient-not-sent
// The root's gradient is not stored.
// region: libmini/autograd/engine.cpp 1
        senders_ = count_senders(root);
        arrived_[&root] = Tensor();
        static_cast<void>(gradient);
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

// --- gradients-kept
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

// --- in-place
// A contribution is added in place to one that others use.
// region: libmini/autograd/engine.cpp 3
        if (!contribution.defined()) return;
        if (total.defined())
            ops::add_(total, contribution);
        else
            total = std::move(contribution);

// --- inputs-from-the-last
// The inputs that are ready are pushed from the last to the first.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();
        for (size_t i = node.inputs().size(); i-- > 0;) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }

// --- late-callbacks-forgotten
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

// --- never-released
// The saved values are kept, with and without retain_graph.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }

// --- never-zero
// The count is compared before it is decremented.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (senders_[input]-- == 0) push(*input);
        }

// --- no-callbacks
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

// --- not-taken-out
// The sum is replaced, not extended, by each contribution.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            arrived_[input] = std::move(contributions[i]);
            if (--senders_[input] == 0) push(*input);
        }

// --- nothing-to-send
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

// --- null-inputs-have-no-place
// The contributions are counted without those of inputs that need none.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();
        size_t next = 0;
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[next++]));
            if (--senders_[input] == 0) push(*input);
        }

// --- only-the-first
// Contributions after the first are dropped.
// region: libmini/autograd/engine.cpp 3
        if (!contribution.defined()) return;
        total = total.defined() ? total : std::move(contribution);

// --- only-the-last
// The last contribution replaces those before.
// region: libmini/autograd/engine.cpp 3
        if (!contribution.defined()) return;
        total = std::move(contribution);

// --- only-the-root
// Only the root is processed.
// region: libmini/autograd/engine.cpp 1
        senders_ = count_senders(root);
        arrived_[&root] = std::move(gradient);
        push(root);
        if (!ready_.empty()) {
            Node& node = *ready_.top().node;
            ready_.pop();
            step(node);
        }
        for (size_t i = 0; i < callbacks_.size(); ++i) {
            const std::function<void()> callback = callbacks_[i];
            callback();
        }

// --- popped-after-the-step
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

// --- pushed-at-each-arrival
// A node is ready when its first contribution comes, and again with each other.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        if (arrived == arrived_.end()) return;
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            push(*input);
        }

// --- pushed-at-the-first-arrival
// A node is pushed when its first contribution comes, and never again.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (senders_[input] > 0) push(*input);
            senders_[input] = 0;
        }

// --- recursive
// A ready input is processed at once, by recursion: wrong order, deep stack.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) step(*input);
        }

// --- released-before-apply
// The saved values are freed before they are used.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        if (!retain_graph_) node.release();
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }

// --- released-only-if-retained
// retain_graph is read the wrong way round.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        if (retain_graph_) node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }

// --- released-only-when-called
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

// --- undefined-erases
// An undefined contribution erases the sum.
// region: libmini/autograd/engine.cpp 3
        total = total.defined() && contribution.defined()
                    ? ops::add(total, contribution) : std::move(contribution);

// --- undefined-not-counted
// An undefined contribution is skipped without counting it.
// region: libmini/autograd/engine.cpp 2
        const auto arrived = arrived_.find(&node);
        Tensor gradient = std::move(arrived->second);
        arrived_.erase(arrived);
        Grads contributions(node.inputs().size());
        if (gradient.defined()) contributions = node.apply(std::move(gradient));
        if (!retain_graph_) node.release();
        for (size_t i = 0; i < node.inputs().size(); ++i) {
            Node* const input = node.inputs()[i].get();
            if (input == nullptr || !contributions[i].defined()) continue;
            accumulate(arrived_[input], std::move(contributions[i]));
            if (--senders_[input] == 0) push(*input);
        }
