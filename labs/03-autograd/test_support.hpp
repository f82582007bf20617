// Helpers for the checks of lab 03: leaves, and operations that write a journal when their
// gradients are computed.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/both_values.hpp"
#include "labs/check/journal.hpp"
#include "labs/check/values.hpp"
#include "libmini/autograd/functions.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

namespace mini::lab03 {

using labs::about;
using labs::ContainsSubstring;
using labs::in_words, labs::Journal;
using labs::Values;
using test::contains, test::message_of;

// Returns "2 0.5", or "no gradient" for an undefined tensor.
inline std::string in_words(const Tensor& x) {
    if (!x.defined()) return "no gradient";
    std::string text;
    for (const float value : x.to_vector<float>())
        text += concat(text.empty() ? "" : " ", value);
    return text;
}

inline Values values_of(const Tensor& x) {
    return x.defined() ? x.to_vector<float>() : Values{};
}

inline Tensor leaf(const Values& values) {
    Tensor x = Tensor::from(values);
    x.set_requires_grad();
    return x;
}

inline Tensor leaf(const Values& values, const Shape& shape) {
    Tensor x = Tensor::from(values, shape);
    x.set_requires_grad();
    return x;
}

inline Tensor constant(const Values& values) { return Tensor::from(values); }

// Returns the node of an operation's result.
inline const std::shared_ptr<Node>& node_of(const Tensor& result) {
    REQUIRE(result.defined());
    REQUIRE(result.autograd_meta() != nullptr);
    REQUIRE(result.autograd_meta()->grad_fn != nullptr);
    return result.autograd_meta()->grad_fn;
}

// Records an operation on scalars that only has a place in the graph.
inline Tensor recorded(const char* name, const std::vector<Tensor>& inputs) {
    return record(name, Tensor::zeros({1}), inputs,
                  [n = inputs.size()](const Tensor&, const Node&) { return Grads(n); });
}

// The sum of factor * input over the inputs, all of shape (1,). Backward writes its name
// and the gradient that it gets into the journal: "b 15".
struct Term {
    float factor;
    Tensor input;
};

inline Tensor traced(Journal& journal, const char* name, const std::vector<Term>& terms) {
    std::vector<Tensor> inputs;
    float total = 0.0f;
    for (const Term& term : terms) {
        inputs.push_back(term.input);
        total += term.factor * static_cast<float>(term.input.item());
    }
    return record(name, constant({total}), inputs,
                  [&journal, name, terms](const Tensor& g, const Node&) {
                      journal.push_back(concat(name, " ", in_words(g)));
                      Grads grads;
                      for (const Term& term : terms)
                          grads.push_back(ops::mul(g, Tensor::full({1}, term.factor)));
                      return grads;
                  });
}

// Adds a hook that writes the leaf's gradient into the journal: "hook of w 39".
inline int add_hook(Journal& journal, const std::string& name, const Tensor& leaf) {
    return grad_accumulator(leaf)->add_hook([&journal, name](const Tensor& of) {
        journal.push_back(concat("hook of ", name, " ", in_words(of.grad())));
    });
}

}  // namespace mini::lab03
