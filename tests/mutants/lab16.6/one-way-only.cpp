// The walk goes on along the first input of each node only.
    const Node* node = nullptr;
    if (output.requires_grad())
        node = output.is_leaf() ? grad_accumulator(output).get()
                                : output.autograd_meta()->grad_fn.get();
    while (node != nullptr && seen.insert(node).second)
        node = node->inputs().empty() ? nullptr : node->inputs()[0].get();
