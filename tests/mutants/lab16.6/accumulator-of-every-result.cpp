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
