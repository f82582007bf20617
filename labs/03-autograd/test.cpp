// The checks of lab 03, tasks 03.1, 03.3 and 03.4: the graph, its leaves, and its edges.

#include <memory>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "labs/03-autograd/test_support.hpp"
#include "libmini/autograd/graph.hpp"

using namespace mini;
using namespace mini::lab03;

// ---- 03.1

TEST_CASE("a result points to the nodes of its inputs", "[lab03][lab03.1]") {
    const Tensor a = leaf({1}), b = leaf({2});
    const Tensor sum = recorded("sum", {a, b});
    INFO("a and b are leaves that require grad; sum is recorded with the inputs a, b");
    INFO("hint 2 of 03.1");
    {
        INFO("if an input requires grad, the result requires grad and is not a leaf");
        REQUIRE(sum.requires_grad());
        REQUIRE_FALSE(sum.is_leaf());
    }
    REQUIRE(node_of(sum)->name() == std::string("sum"));
    REQUIRE(node_of(sum)->inputs().size() == 2);
    {
        INFO("the gradient of a leaf arrives at its accumulator");
        CHECK(node_of(sum)->inputs()[0] == grad_accumulator(a));
        CHECK(node_of(sum)->inputs()[1] == grad_accumulator(b));
    }

    const Tensor next = recorded("next", {sum, b});
    INFO("next is recorded with the inputs sum, b: sum's gradient arrives at sum's node");
    REQUIRE(node_of(next)->inputs().size() == 2);
    CHECK(node_of(next)->inputs()[0] == node_of(sum));
    CHECK(node_of(next)->inputs()[1] == grad_accumulator(b));
}

TEST_CASE("an input that needs no gradient has a null entry in its place",
          "[lab03][lab03.1]") {
    const Tensor w = leaf({1}), data = constant({2});
    const Tensor y = recorded("layer", {data, w, Tensor()});
    INFO("the inputs are data, which requires no grad, the leaf w, and an undefined one");
    REQUIRE(node_of(y)->inputs().size() == 3);
    INFO("a backward function returns one gradient for each input, so each has a place");
    CHECK(node_of(y)->inputs()[0] == nullptr);
    CHECK(node_of(y)->inputs()[1] == grad_accumulator(w));
    CHECK(node_of(y)->inputs()[2] == nullptr);
    CHECK_FALSE(node_of(y)->needs_input_grad(0));
    CHECK(node_of(y)->needs_input_grad(1));
    {
        INFO("the constants may come last as well as first");
        const Tensor z = recorded("layer", {w, data});
        REQUIRE(z.requires_grad());
        CHECK(node_of(z)->inputs()[0] == grad_accumulator(w));
        CHECK(node_of(z)->inputs()[1] == nullptr);
    }
    {
        INFO("a frozen parameter, set_requires_grad(false), is a constant");
        Tensor frozen = leaf({3});
        frozen.set_requires_grad(false);
        const Tensor z = recorded("layer", {frozen, w});
        CHECK(node_of(z)->inputs()[0] == nullptr);
        CHECK(node_of(z)->inputs()[1] == grad_accumulator(w));
    }
}

TEST_CASE("an operation on constants is not recorded", "[lab03][lab03.1]") {
    const Tensor y = recorded("sum", {constant({1}), constant({2}), Tensor()});
    INFO("no input requires grad: record returns the result as it is, without a node");
    CHECK_FALSE(y.requires_grad());
    CHECK(y.is_leaf());
    CHECK(y.autograd_meta() == nullptr);
}

TEST_CASE("nothing is recorded while a NoGradGuard exists", "[lab03][lab03.1]") {
    const Tensor w = leaf({1});
    {
        const NoGradGuard no_grad;
        const Tensor y = recorded("double", {w});
        INFO("w requires grad, but recording is off");
        CHECK_FALSE(y.requires_grad());
        CHECK(y.autograd_meta() == nullptr);
        INFO("record returns the result itself, even if it is the input");
        CHECK(record("same", w, {w}, [](const Tensor&, const Node&) {
                  return Grads(1);
              }).is_same(w));
    }
    INFO("and on again after the guard's scope");
    CHECK(recorded("double", {w}).requires_grad());
}

TEST_CASE("the result has the values of the operation, not a copy", "[lab03][lab03.1]") {
    const Tensor w = leaf({3, 4});
    const Tensor values = ops::add(w, w);
    const Tensor y = record("double", values, {w},
                            [](const Tensor&, const Node&) { return Grads(1); });
    CHECK(values_of(y) == Values{6, 8});
    INFO("record changes the graph; the values need no second place in memory");
    CHECK(y.shares_storage(values));
}

TEST_CASE("an operation that returns its input leaves the input as it was",
          "[lab03][lab03.1]") {
    const auto same = [](const Tensor& x) {
        return record("same", x, {x},
                      [](const Tensor&, const Node&) { return Grads(1); });
    };
    const Tensor x = leaf({3, 4});
    const Tensor y = same(x);
    INFO(
        "x is a leaf, and y = record(\"same\", x, {x}, ...) has x itself as the result,");
    INFO("as reshape to the same shape may; hint 2 of 03.1");
    CHECK(x.is_leaf());
    CHECK(node_of(y)->inputs()[0] == grad_accumulator(x));
    CHECK(y.shares_storage(x));

    const std::shared_ptr<Node> before = node_of(y);
    const Tensor z = same(y);
    INFO("the same with the result of an operation as the input");
    CHECK(node_of(y) == before);
    CHECK(node_of(z)->inputs()[0] == before);

    Tensor frozen = leaf({5});
    frozen.set_requires_grad(false);
    record("same", frozen, {frozen, x},
           [](const Tensor&, const Node&) { return Grads(2); });
    INFO("the result is a leaf that requires no grad; the other input requires grad");
    CHECK(frozen.is_leaf());
    CHECK_FALSE(frozen.requires_grad());
}

TEST_CASE("the node computes gradients by the backward function that was recorded",
          "[lab03][lab03.1]") {
    const Tensor w = leaf({1}), data = constant({2});
    Values got;
    std::vector<bool> needed;
    const Tensor y =
        record("product", constant({2}), {data, w},
               [&](const Tensor& g, const Node& node) -> Grads {
                   got = values_of(g);
                   needed = {node.needs_input_grad(0), node.needs_input_grad(1)};
                   return {Tensor(), constant({20})};
               });
    const Grads grads = node_of(y)->apply(constant({10}));
    INFO("apply(10) calls the backward function with this gradient and the node");
    CHECK(got == Values{10});
    CHECK(needed == std::vector<bool>{false, true});
    REQUIRE(grads.size() == 2);
    CHECK(values_of(grads[1]) == Values{20});
}

TEST_CASE("a leaf has one accumulator, which keeps its hooks", "[lab03][lab03.1]") {
    const Tensor w = leaf({1});
    const auto accumulator = grad_accumulator(w);
    INFO("grad_accumulator(w) was called; each later call must return the same node");
    REQUIRE(accumulator != nullptr);
    CHECK(grad_accumulator(w) == accumulator);
    const Tensor a = recorded("a", {w}), b = recorded("b", {w});
    INFO("two operations with the input w: both edges end at one node, or else no sum");
    CHECK(node_of(a)->inputs()[0] == accumulator);
    CHECK(node_of(b)->inputs()[0] == accumulator);
    CHECK(grad_accumulator(leaf({1})) != accumulator);
}

TEST_CASE("a graph is freed with its last result", "[lab03][lab03.1]") {
    std::weak_ptr<Node> node;
    {
        const Tensor w = leaf({1});
        Tensor y = recorded("first", {w});
        node = node_of(y);
        y = recorded("second", {y});
        INFO("y = second(first(w)): the second node keeps the first");
        CHECK_FALSE(node.expired());
    }
    INFO("y has left its scope; a node that refers to its own result keeps itself alive");
    CHECK(node.expired());
}

TEST_CASE("a graph keeps nodes, not tensors", "[lab03][lab03.1]") {
    Tensor first = recorded("first", {leaf({1})});
    const WeakTensor values(first);
    const Tensor second = recorded("second", {first});
    first = Tensor();
    INFO(
        "second = f(first), and the program has dropped first: its values are free, "
        "since");
    INFO("no backward function has saved them; only its node is still needed");
    CHECK_FALSE(values.lock().defined());
    CHECK(node_of(second)->inputs()[0] != nullptr);
}

TEST_CASE("a graph of 100,000 nodes is freed without recursion", "[lab03][lab03.1]") {
    Tensor y = leaf({1});
    for (int i = 0; i < 100000; ++i) y = recorded("step", {y});
    INFO("y is the end of a chain; ~Node, which is given, frees it in a loop, if only");
    INFO("nodes refer to nodes");
    y = Tensor();
    CHECK_FALSE(y.defined());
}

// ---- 03.3

namespace {

// Sends a gradient to a leaf, as the backward pass does.
void send(const Tensor& x, Tensor gradient) {
    grad_accumulator(x)->apply(std::move(gradient));
}

}  // namespace

TEST_CASE("the first gradient of a leaf is stored and later ones are added",
          "[lab03][lab03.3]") {
    const Tensor w = leaf({1, 2});
    send(w, constant({10, 20}));
    INFO("10 20 arrived at w, which had no gradient; hint 1 of 03.3");
    REQUIRE(w.grad().defined());
    REQUIRE(values_of(w.grad()) == Values{10, 20});
    send(w, constant({1, 2}));
    INFO("then 1 2 arrived in a second pass");
    REQUIRE(values_of(w.grad()) == Values{11, 22});
}

TEST_CASE("a gradient is added in place, so that a view of a bucket stays a view",
          "[lab03][lab03.3]") {
    Tensor w = leaf({1, 2});
    Tensor bucket = Tensor::zeros({4});
    w.set_grad(ops::narrow(bucket, 0, 1, 2));
    send(w, constant({10, 20}));
    send(w, constant({1, 2}));
    INFO("w.grad() is a view of places 1 and 2 of a bucket of 4 zeros, as in lab 16;");
    INFO("10 20 and 1 2 arrived; the bucket is now " << in_words(bucket)
                                                     << "; hint 2 of 03.3");
    REQUIRE(values_of(bucket) == Values{0, 11, 22, 0});
}

TEST_CASE("the gradients of two leaves do not share their values", "[lab03][lab03.3]") {
    const Tensor a = leaf({1}), b = leaf({2});
    const Tensor g = constant({10});
    send(a, g);
    send(b, g);
    send(a, constant({1}));
    INFO("the same tensor, 10, arrived at a and at b, as from a + b; then 1 at a only");
    INFO("a has " << in_words(a.grad()) << ", b has " << in_words(b.grad())
                  << ", and the tensor that was sent holds " << in_words(g)
                  << "; hint 2 of 03.3");
    CHECK(values_of(a.grad()) == Values{11});
    CHECK(values_of(b.grad()) == Values{10});
    CHECK(values_of(g) == Values{10});
}

TEST_CASE("a gradient may be an expanded or a transposed view", "[lab03][lab03.3]") {
    const Tensor w = leaf({0, 0, 0, 0}, {2, 2});
    const bool expanded_first = GENERATE(true, false);
    INFO("the gradient of sum(w) is one number, expanded to (2, 2) with strides 0; that");
    INFO("of transpose(w) is transposed: 1 2 3 4 is read 1 3 2 4; hint 2 of 03.3");
    const auto expanded = [] { return ops::expand(Tensor::scalar(5), {2, 2}); };
    const auto transposed = [] {
        return ops::transpose(Tensor::from(Values{1, 2, 3, 4}, {2, 2}), 0, 1);
    };
    send(w, expanded_first ? expanded() : transposed());
    CHECK(values_of(w.grad()) ==
          (expanded_first ? Values{5, 5, 5, 5} : Values{1, 3, 2, 4}));
    send(w, expanded_first ? transposed() : expanded());
    CHECK(values_of(w.grad()) == Values{6, 8, 7, 9});
}

TEST_CASE("each hook is called once a pass, after the gradient was added",
          "[lab03][lab03.3]") {
    const Tensor w = leaf({1});
    Journal journal;
    const int first = add_hook(journal, "w, first:", w);
    add_hook(journal, "w, second:", w);
    INFO("two hooks of w write w.grad(); 10 arrives, then 1; hint 1 of 03.3");
    const Grads none = grad_accumulator(w)->apply(constant({10}));
    {
        INFO("the journal: " << in_words(journal));
        REQUIRE(journal == Journal{"hook of w, first: 10", "hook of w, second: 10"});
        INFO("a leaf has no inputs, so it returns no gradients");
        REQUIRE(none.empty());
    }
    grad_accumulator(w)->remove_hook(first);
    journal.clear();
    send(w, constant({1}));
    INFO("the first hook was removed; the journal: " << in_words(journal));
    REQUIRE(journal == Journal{"hook of w, second: 11"});
}

TEST_CASE("a hook gets the leaf itself, and may change its gradient",
          "[lab03][lab03.3]") {
    const Tensor w = leaf({7});
    bool is_the_leaf = false;
    grad_accumulator(w)->add_hook([&](const Tensor& of) {
        is_the_leaf = of.is_same(w);
        Tensor gradient = of.grad();
        ops::mul_(gradient, 0.5f);
    });
    send(w, constant({10}));
    INFO("the hook halves the gradient 10, as the mean over two ranks does");
    CHECK(is_the_leaf);
    CHECK(values_of(w.grad()) == Values{5});
}

// ---- 03.4

namespace {

using Senders = std::unordered_map<const Node*, int>;

// Returns how many senders `node` has; -1 if it is not in the map.
int count_of(const Senders& senders, const std::shared_ptr<Node>& node) {
    const auto found = senders.find(node.get());
    return found == senders.end() ? -1 : found->second;
}

}  // namespace

TEST_CASE("in a chain each node has one sender, and the root none", "[lab03][lab03.4]") {
    const Tensor w = leaf({1});
    const Tensor a = recorded("a", {w}), b = recorded("b", {a});
    const auto senders = count_senders(*node_of(b));
    INFO("b = b(a(w)): the root b sends to a, and a to the leaf w; hint 1 of 03.4");
    CHECK(count_of(senders, node_of(b)) == 0);
    CHECK(count_of(senders, node_of(a)) == 1);
    CHECK(count_of(senders, grad_accumulator(w)) == 1);
    CHECK(senders.size() == 3);
}

TEST_CASE("the node of the warm-up has three senders", "[lab03][lab03.4]") {
    const Tensor w = leaf({2}), data = constant({3});
    const Tensor p = recorded("p", {w, data});
    const Tensor square = recorded("square", {p, p});
    const Tensor loss = recorded("loss", {square, p});
    const auto senders = count_senders(*node_of(loss));
    INFO("p = w data, square = p p, loss = square + p; data requires no grad");
    {
        INFO("square sends p two contributions, one for each factor; loss one more");
        CHECK(count_of(senders, node_of(p)) == 3);
    }
    {
        INFO("p sends only one contribution to w: it sends when all three have come");
        CHECK(count_of(senders, grad_accumulator(w)) == 1);
    }
    CHECK(count_of(senders, node_of(square)) == 1);
    CHECK(count_of(senders, node_of(loss)) == 0);
    CHECK(senders.size() == 4);
}

TEST_CASE("only edges that start at a node below the root count", "[lab03][lab03.4]") {
    const Tensor w = leaf({2});
    const Tensor p = recorded("p", {w});
    const Tensor loss = recorded("loss", {p});
    const Tensor other = recorded("other", {p, w});  // no part of this pass
    const auto senders = count_senders(*node_of(loss));
    INFO("loss = f(p), p = g(w); another result uses p and w, but loss does not use it:");
    INFO("its contribution would never come");
    CHECK(count_of(senders, node_of(p)) == 1);
    CHECK(count_of(senders, grad_accumulator(w)) == 1);
    CHECK(count_of(senders, node_of(other)) == -1);
    {
        INFO("a leaf may be the root");
        const auto alone = count_senders(*grad_accumulator(w));
        CHECK(count_of(alone, grad_accumulator(w)) == 0);
        CHECK(alone.size() == 1);
    }
}

TEST_CASE("a diamond on a diamond doubles the paths but not the senders",
          "[lab03][lab03.4]") {
    Tensor y = leaf({1});
    std::vector<Tensor> all;
    for (int i = 0; i < 40; ++i) {
        y = recorded("twice", {y, y});
        all.push_back(y);
    }
    INFO("40 times y = twice(y, y): 2^40 paths, 80 edges; hint 2 of 03.4");
    const auto senders = count_senders(*node_of(y));
    REQUIRE(senders.size() == 41);
    CHECK(count_of(senders, node_of(all[38])) == 2);
    CHECK(count_of(senders, node_of(all[0])) == 2);
}

TEST_CASE("a graph of 100,000 nodes is counted without recursion", "[lab03][lab03.4]") {
    const Tensor w = leaf({1});
    Tensor y = w;
    for (int i = 0; i < 100000; ++i) y = recorded("step", {y});
    INFO("a chain of 100,000 nodes; a call for each node would need 100,000 frames");
    const auto senders = count_senders(*node_of(y));
    REQUIRE(senders.size() == 100001);
    REQUIRE(count_of(senders, grad_accumulator(w)) == 1);
}
