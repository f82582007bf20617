#include "libmini/autograd/graph.hpp"

#include <vector>

namespace mini {

std::unordered_map<const Node*, int> count_senders(const Node& root) {
    // [lab03.4] Count the edges that end at each node.
    std::unordered_map<const Node*, int> senders{{&root, 0}};
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
    // [lab03.4]
}

}  // namespace mini
