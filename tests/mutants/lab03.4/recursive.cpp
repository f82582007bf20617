// The walk calls itself for each node, and the stack overflows.
    std::unordered_map<const Node*, int> senders{{&root, 0}};
    const std::function<void(const Node&)> visit = [&](const Node& node) {
        for (const auto& input : node.inputs()) {
            if (!input) continue;
            const auto [entry, is_new] = senders.try_emplace(input.get(), 0);
            ++entry->second;
            if (is_new) visit(*input);
        }
    };
    visit(root);
    return senders;
