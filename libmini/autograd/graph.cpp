#include "libmini/autograd/graph.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>
#include <vector>

namespace mini {
namespace {

bool is_leaf(const Node& node) {
    return node.sequence() == std::numeric_limits<uint64_t>::max();
}

// Returns the name of a leaf's tensor, or "leaf" if it is not in `names`.
std::string leaf_name(const Node& node, const NamedTensors& names) {
    for (const auto& [name, tensor] : names)
        if (tensor.requires_grad() && tensor.is_leaf() &&
            grad_accumulator(tensor).get() == &node)
            return name;
    return "leaf";
}

}  // namespace

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

std::string to_dot(const Tensor& result, const NamedTensors& names) {
    MINI_CHECK(result.defined() && result.requires_grad(),
               "to_dot: this tensor does not require grad, so it has no graph");
    const std::shared_ptr<Node> root =
        result.is_leaf() ? std::shared_ptr<Node>(grad_accumulator(result))
                         : result.autograd_meta()->grad_fn;
    const auto senders = count_senders(*root);

    // Number the nodes in the order in which a walk finds them.
    std::vector<const Node*> nodes{root.get()};
    std::unordered_map<const Node*, size_t> numbers{{root.get(), 0}};
    for (size_t i = 0; i < nodes.size(); ++i)
        for (const auto& input : nodes[i]->inputs())
            if (input && numbers.try_emplace(input.get(), nodes.size()).second)
                nodes.push_back(input.get());

    uint64_t lowest = std::numeric_limits<uint64_t>::max();
    for (const Node* node : nodes) lowest = std::min(lowest, node->sequence());

    std::string text =
        "digraph backward {\n"
        "  rankdir=LR; bgcolor=transparent; node [shape=box, style=rounded];\n";
    for (const Node* node : nodes) {
        const std::string name =
            is_leaf(*node) ? leaf_name(*node, names)
                           : concat(node->name(), " #", node->sequence() - lowest);
        const int count = senders.at(node);
        const std::string several = count > 1 ? concat("\\n", count, " senders") : "";
        text += concat("  n", numbers.at(node), " [label=\"", name, several,
                       "\", class=\"", is_leaf(*node) ? "leaf" : "function",
                       count > 1 ? " shared" : "", "\"];\n");
    }
    for (const Node* node : nodes)
        for (const auto& input : node->inputs())
            if (input)
                text += concat("  n", numbers.at(node), " -> n", numbers.at(input.get()),
                               ";\n");
    return text + "}\n";
}

}  // namespace mini
