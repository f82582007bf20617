// --- both-factors-are-one
// Two edges from one node to another count as one.
    std::unordered_map<const Node*, int> senders{{&root, 0}};
    std::vector<const Node*> to_visit{&root};
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) {
            if (!input)
                continue;
            const auto& all = node->inputs();
            if (&input != &*std::find(all.begin(), all.end(), input)) continue;
            const auto [entry, is_new] = senders.try_emplace(input.get(), 0);
            ++entry->second;
            if (is_new) to_visit.push_back(input.get());
        }
    }
    return senders;

// --- first-not-counted
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

// --- inputs-counted
// A node gets the number of its inputs, not of its users.
    std::unordered_map<const Node*, int> senders{{&root, 0}};
    std::vector<const Node*> to_visit{&root};
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) {
            if (!input) continue;
            const auto [entry, is_new] = senders.try_emplace(input.get(), 0);
            entry->second = static_cast<int>(node->inputs().size());
            if (is_new) to_visit.push_back(input.get());
        }
    }
    return senders;

// --- inputs-of-the-root-only
// Only the root's own edges are counted.
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
        }
    }
    return senders;

// --- leaves-left-out
// Leaves are not counted.
    std::unordered_map<const Node*, int> senders{{&root, 0}};
    std::vector<const Node*> to_visit{&root};
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) {
            if (!input || input->inputs().empty()) continue;
            const auto [entry, is_new] = senders.try_emplace(input.get(), 0);
            ++entry->second;
            if (is_new) to_visit.push_back(input.get());
        }
    }
    return senders;

// --- null-input-followed
// An input that needs no gradient is followed.
    std::unordered_map<const Node*, int> senders{{&root, 0}};
    std::vector<const Node*> to_visit{&root};
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) {
            const auto [entry, is_new] = senders.try_emplace(input.get(), 0);
            ++entry->second;
            if (is_new) to_visit.push_back(input.get());
        }
    }
    return senders;

// --- once-per-node
// Each node has one sender, however many use it.
    std::unordered_map<const Node*, int> senders{{&root, 0}};
    std::vector<const Node*> to_visit{&root};
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) {
            if (!input) continue;
            const auto [entry, is_new] = senders.try_emplace(input.get(), 0);
            entry->second = 1;
            if (is_new) to_visit.push_back(input.get());
        }
    }
    return senders;

// --- once-per-path
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

// --- recursive
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

// --- root-left-out
// The root is not in the map.
    std::unordered_map<const Node*, int> senders;
    std::vector<const Node*> to_visit{&root};
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) {
            if (!input) continue;
            const auto [entry, is_new] = senders.try_emplace(input.get(), 0);
            ++entry->second;
            if (is_new) to_visit.push_back(input.get());
        }
    }
    return senders;

// --- root-sends-to-itself
// The root waits for a sender.
    std::unordered_map<const Node*, int> senders{{&root, 1}};
    std::vector<const Node*> to_visit{&root};
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) {
            if (!input) continue;
            const auto [entry, is_new] = senders.try_emplace(input.get(), 0);
            ++entry->second;
            if (is_new) to_visit.push_back(input.get());
        }
    }
    return senders;
