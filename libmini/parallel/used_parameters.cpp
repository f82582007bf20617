#include "libmini/parallel/used_parameters.hpp"

#include <unordered_set>

#include "libmini/autograd/node.hpp"

namespace mini::parallel {
namespace {

// Returns all nodes that a gradient of `output` would reach. The walk starts at
//
//     no node                              if `output` needs no gradient; then
//                                          output.autograd_meta() may be null
//     grad_accumulator(output)             if `output` is a leaf, that is, a parameter
//     output.autograd_meta()->grad_fn      if `output` was computed
//
// and goes on from each node to its inputs(). An entry of inputs() is null if that input
// needs no gradient.
std::unordered_set<const Node*> reachable_nodes(const Tensor& output) {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> to_visit;
    // [lab16.6] Visit every node that a gradient of the output would reach.
    const auto visit = [&](const Node* node) {
        if (node != nullptr && seen.insert(node).second) to_visit.push_back(node);
    };
    if (output.requires_grad())
        visit(output.is_leaf() ? grad_accumulator(output).get()
                               : output.autograd_meta()->grad_fn.get());
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) visit(input.get());
    }
    // [lab16.6]
    return seen;
}

}  // namespace

std::vector<bool> used_parameters(const Tensor& output,
                                  const nn::NamedTensors& parameters) {
    const auto reachable = reachable_nodes(output);
    std::vector<bool> used;
    for (const auto& [name, parameter] : parameters)
        used.push_back(parameter.requires_grad() &&
                       reachable.contains(grad_accumulator(parameter).get()));
    return used;
}

}  // namespace mini::parallel
