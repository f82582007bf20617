#include "libmini/autograd/graph.hpp"

#include "libmini/autograd/functions.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::contains;

namespace {

Tensor leaf(float value) {
    Tensor x = Tensor::full({1}, value);
    x.set_requires_grad();
    return x;
}

const Node& node_of(const Tensor& x) { return *x.autograd_meta()->grad_fn; }

}  // namespace

TEST_CASE("count_senders counts each edge once, also both edges of x * x") {
    const Tensor w = leaf(2);
    const Tensor p = w * 3.0f;
    const Tensor square = p * p;
    const Tensor total = square + p;
    const auto senders = count_senders(node_of(total));
    CHECK(senders.size() == 4);
    CHECK(senders.at(&node_of(total)) == 0);
    CHECK(senders.at(&node_of(square)) == 1);
    CHECK(senders.at(&node_of(p)) == 3);
    CHECK(senders.at(grad_accumulator(w).get()) == 1);
}

TEST_CASE("count_senders counts only what the root reaches") {
    const Tensor w = leaf(2);
    const Tensor p = w * 3.0f;
    const Tensor elsewhere = p + w;
    const auto senders = count_senders(node_of(p));
    CHECK(senders.size() == 2);
    CHECK(senders.at(grad_accumulator(w).get()) == 1);
    CHECK(count_senders(*grad_accumulator(w)).at(grad_accumulator(w).get()) == 0);
}

TEST_CASE("to_dot shows each node once, with names, numbers, senders and edges") {
    const Tensor w = leaf(2);
    const Tensor p = w * 3.0f;
    const Tensor square = p * p;
    CHECK(to_dot(square + p, {{"w", w}}) ==
          "digraph backward {\n"
          "  rankdir=LR; bgcolor=transparent; node [shape=box, style=rounded];\n"
          "  n0 [label=\"add #2\", class=\"function\"];\n"
          "  n1 [label=\"mul #1\", class=\"function\"];\n"
          "  n2 [label=\"mul #0\\n3 senders\", class=\"function shared\"];\n"
          "  n3 [label=\"w\", class=\"leaf\"];\n"
          "  n0 -> n1;\n"
          "  n0 -> n2;\n"
          "  n1 -> n2;\n"
          "  n1 -> n2;\n"
          "  n2 -> n3;\n"
          "}\n");
}

TEST_CASE("to_dot calls a leaf without a name leaf, and may start at a leaf") {
    const Tensor w = leaf(2);
    const Tensor frozen = Tensor::full({1}, 1.0);
    CHECK(contains(to_dot(w, {{"frozen", frozen}}), "n0 [label=\"leaf\""));
    CHECK(contains(to_dot(w, {{"frozen", frozen}, {"w", w}}), "n0 [label=\"w\""));
    CHECK(contains(test::message_of([&] { to_dot(frozen); }), "does not require grad"));
    CHECK(contains(test::message_of([] { to_dot(Tensor()); }), "does not require grad"));
}
