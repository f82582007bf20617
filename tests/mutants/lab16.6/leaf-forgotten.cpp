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
