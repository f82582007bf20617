// backward_graph: writes the graph of a real computation in DOT.
//
//     backward_graph warm-up | dot -Tsvg > graph.svg
//
// The graph is made by a forward pass of the chosen computation; draw_graph.py makes the
// lab's pictures from it. Without Graphviz, the text itself lists the nodes and the edges.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iostream>
#include <limits>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/training/program.hpp"

using namespace mini;

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

// Returns the graph of `result` in DOT (as `torchviz.make_dot`). The arrows point from
// results to inputs, as the backward pass runs. A node shows its operation's name and its
// sequence number, counted from the lowest in the graph, and how many senders it has if
// there are several; a leaf shows its name in `names`. The classes leaf and shared are for
// draw_graph.py's style sheet.
std::string to_dot(const Tensor& result, const NamedTensors& names) {
    const std::shared_ptr<Node> root = result.autograd_meta()->grad_fn;

    // Number the nodes in the order in which a walk finds them, and count the edges that end
    // at each.
    std::vector<const Node*> nodes{root.get()};
    std::unordered_map<const Node*, size_t> numbers{{root.get(), 0}};
    std::unordered_map<const Node*, int> senders;
    for (size_t i = 0; i < nodes.size(); ++i)
        for (const auto& input : nodes[i]->inputs()) {
            if (!input) continue;
            ++senders[input.get()];
            if (numbers.try_emplace(input.get(), nodes.size()).second)
                nodes.push_back(input.get());
        }

    uint64_t lowest = std::numeric_limits<uint64_t>::max();
    for (const Node* node : nodes) lowest = std::min(lowest, node->sequence());

    std::string text =
        "digraph backward {\n"
        "  rankdir=LR; bgcolor=transparent; node [shape=box, style=rounded];\n";
    for (const Node* node : nodes) {
        const std::string name =
            is_leaf(*node) ? leaf_name(*node, names)
                           : concat(node->name(), " #", node->sequence() - lowest);
        const int count = senders[node];
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

Tensor weight(const Shape& shape) {
    Tensor w = Tensor::full(shape, 2.0);
    w.set_requires_grad();
    return w;
}

// The computation of the warm-up: loss = p² + p, where p = w x.
std::string warm_up() {
    const Tensor w = weight({});
    const Tensor p = w * 3.0f;
    const Tensor square = p * p;
    return to_dot(square + p, {{"w", w}});
}

// A network of two layers; its data need no gradient, so they are not in the graph.
std::string two_layers() {
    const Tensor x = Tensor::ones({4, 3});
    const Tensor target = Tensor::from(std::vector<int64_t>{0, 1, 0, 1});
    const Tensor w1 = weight({5, 3}), b1 = weight({5}), w2 = weight({2, 5}),
                 b2 = weight({2});
    const Tensor hidden = relu(linear(x, w1, b1));
    return to_dot(cross_entropy(linear(hidden, w2, b2), target),
                  {{"w1", w1}, {"b1", b1}, {"w2", w2}, {"b2", b2}});
}

// Three steps of a recurrent network: each uses the same weight, and its own input.
std::string recurrent() {
    const Tensor w = weight({});
    Tensor state = Tensor::scalar(0.5f);
    for (int step = 1; step <= 3; ++step)
        state = mini::tanh(state * w + Tensor::scalar(static_cast<float>(step)));
    return to_dot(state, {{"w", w}});
}

std::string graph_of(const std::string& computation) {
    if (computation == "warm-up") return warm_up();
    if (computation == "two-layers") return two_layers();
    return recurrent();
}

}  // namespace

int main(int argc, char** argv) {
    return training::run("backward_graph", [&] {
        std::string computation = "warm-up";
        CommandLine line("The graph of a computation, in DOT.", "backward_graph");
        line.add("computation", computation, "what to compute")
            .one_of({"warm-up", "two-layers", "recurrent"});
        if (line.parse(argc, argv)) std::cout << graph_of(computation);
    });
}
