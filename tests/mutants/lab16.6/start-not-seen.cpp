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
