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

}  // namespace

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
