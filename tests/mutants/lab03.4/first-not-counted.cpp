// The edge by which a node is found is not counted.
    std::unordered_map<const Node*, int> senders{{&root, 0}};
    std::vector<const Node*> to_visit{&root};
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) {
            if (!input) continue;
            const auto [entry, is_new] = senders.try_emplace(input.get(), 0);
            if (is_new)
                to_visit.push_back(input.get());
            else
                ++entry->second;
        }
    }
    return senders;
