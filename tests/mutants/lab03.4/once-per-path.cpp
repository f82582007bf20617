// A node is visited once for each path that leads to it.
    std::unordered_map<const Node*, int> senders{{&root, 0}};
    std::vector<const Node*> to_visit{&root};
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) {
            if (!input) continue;
            const auto [entry, unused] = senders.try_emplace(input.get(), 0);
            ++entry->second;
            static_cast<void>(unused);
            to_visit.push_back(input.get());
        }
    }
    return senders;
