// backward_graph: writes the graph of a real computation in DOT.
//
//     backward_graph warm-up | dot -Tsvg > graph.svg
//
// The graph is made by a forward pass of the chosen computation; draw_graph.py makes the
// lab's pictures from it. Without Graphviz, the text itself lists the nodes and the edges.
//
// Exit codes: 0 done, 1 failed, 2 invalid options.

#include <cstdint>
#include <iostream>
#include <string>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/graph.hpp"
#include "libmini/program/command_line.hpp"
#include "libmini/training/program.hpp"

using namespace mini;

namespace {

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
