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
