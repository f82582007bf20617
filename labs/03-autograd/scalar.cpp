#include "labs/03-autograd/scalar.hpp"

#include <cmath>
#include <unordered_map>
#include <utility>
#include <vector>

#include "libmini/core/error.hpp"

// [lab03 file]
namespace mini::lab03 {

struct Scalar::Node {
    struct Edge {
        std::shared_ptr<Node> input;
        double slope;  // d(this number)/d(input)
    };

    double value = 0.0;
    double grad = 0.0;
    std::vector<Edge> edges;
};

namespace {

using Node = Scalar::Node;

Scalar computed(double value, std::vector<Node::Edge> edges) {
    Scalar result(value);
    result.node->edges = std::move(edges);
    return result;
}

// Returns how many edges end at each number that can be reached from `root`.
std::unordered_map<Node*, int> count_edges(Node* root) {
    // [lab03.1] Count the edges that end at each number.
    std::unordered_map<Node*, int> count;
    std::vector<Node*> to_visit{root};
    while (!to_visit.empty()) {
        const Node& user = *to_visit.back();
        to_visit.pop_back();
        for (const Node::Edge& edge : user.edges)
            if (++count[edge.input.get()] == 1) to_visit.push_back(edge.input.get());
    }
    return count;
    // [lab03.1]
}

}  // namespace

Scalar::Scalar(double value) : node(std::make_shared<Node>()) { node->value = value; }

double Scalar::value() const { return node->value; }

double Scalar::grad() const { return node->grad; }

Scalar operator+(const Scalar& a, const Scalar& b) {
    return computed(a.value() + b.value(), {{a.node, 1.0}, {b.node, 1.0}});
}

Scalar operator*(const Scalar& a, const Scalar& b) {
    // [lab03.1] Compute the product, and remember both slopes.
    return computed(a.value() * b.value(), {{a.node, b.value()}, {b.node, a.value()}});
    // [lab03.1]
}

Scalar tanh(const Scalar& x) {
    // [lab03.1] Compute tanh, and remember its slope.
    const double y = std::tanh(x.value());
    return computed(y, {{x.node, 1.0 - y * y}});
    // [lab03.1]
}

void Scalar::backward() const {
    std::unordered_map<Node*, int> missing = count_edges(node.get());
    std::unordered_map<Node*, double> arrived{{node.get(), 1.0}};
    std::vector<Node*> ready{node.get()};
    // [lab03.1] Send along the edges of each number whose gradient is complete.
    while (!ready.empty()) {
        Node& user = *ready.back();
        ready.pop_back();
        const double gradient = arrived[&user];
        user.grad += gradient;
        for (const Node::Edge& edge : user.edges) {
            Node* const input = edge.input.get();
            arrived[input] += gradient * edge.slope;
            if (--missing[input] == 0) ready.push_back(input);
        }
    }
    // [lab03.1]
}

}  // namespace mini::lab03
// [lab03 file]
