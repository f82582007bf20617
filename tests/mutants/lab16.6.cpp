// --- accumulator-of-every-result
// Every result is asked for its accumulator, which only a leaf has.
    const auto visit = [&](const Node* node) {
        if (node != nullptr && seen.insert(node).second) to_visit.push_back(node);
    };
    if (output.requires_grad()) visit(grad_accumulator(output).get());
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) visit(input.get());
    }

// --- graph-taken-for-granted
// A result without a graph has no autograd_meta(), which is read all the same.
    const auto visit = [&](const Node* node) {
        if (node != nullptr && seen.insert(node).second) to_visit.push_back(node);
    };
    const auto grad_fn = output.autograd_meta()->grad_fn;
    visit(grad_fn ? grad_fn.get() : grad_accumulator(output).get());
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) visit(input.get());
    }

// --- leaf-forgotten
// A result that is itself a parameter has no grad_fn, and counts as made from nothing.
    const auto visit = [&](const Node* node) {
        if (node != nullptr && seen.insert(node).second) to_visit.push_back(node);
    };
    if (output.requires_grad()) visit(output.autograd_meta()->grad_fn.get());
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) visit(input.get());
    }

// --- one-way-only
// The walk goes on along the first input of each node only.
    const Node* node = nullptr;
    if (output.requires_grad())
        node = output.is_leaf() ? grad_accumulator(output).get()
                                : output.autograd_meta()->grad_fn.get();
    while (node != nullptr && seen.insert(node).second)
        node = node->inputs().empty() ? nullptr : node->inputs()[0].get();

// --- start-not-seen
// The first node is visited but not counted: a result that is a parameter uses nothing.
    if (!output.requires_grad()) return seen;
    to_visit.push_back(output.is_leaf() ? grad_accumulator(output).get()
                                        : output.autograd_meta()->grad_fn.get());
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs())
            if (input != nullptr && seen.insert(input.get()).second)
                to_visit.push_back(input.get());
    }

// --- walk-stops-at-once
// Only the inputs of the last operation are looked at.
    if (output.requires_grad() && !output.is_leaf())
        for (const auto& input : output.autograd_meta()->grad_fn->inputs())
            if (input) seen.insert(input.get());
