// The checks of lab 03, tasks 03.2 and 03.4: the graph, and its leaves.

#include <atomic>
#include <chrono>
#include <cstdint>
#include <limits>
#include <memory>
#include <mutex>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "labs/03-autograd/test_support.hpp"

using namespace mini;
using namespace mini::lab03;

// ---- 03.2

TEST_CASE("a result points to the nodes of its inputs", "[lab03][lab03.2]") {
    const Tensor a = leaf({1}), b = leaf({2});
    const Tensor sum = recorded("sum", {a, b});
    INFO("a and b are leaves that require grad; sum is recorded with the inputs a, b");
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
          "[lab03][lab03.2]") {
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

TEST_CASE("an operation on constants is not recorded", "[lab03][lab03.2]") {
    const Tensor y = recorded("sum", {constant({1}), constant({2}), Tensor()});
    INFO("no input requires grad: record returns the result as it is, without a node");
    CHECK_FALSE(y.requires_grad());
    CHECK(y.is_leaf());
    CHECK(y.autograd_meta() == nullptr);
}

TEST_CASE("nothing is recorded while a NoGradGuard exists", "[lab03][lab03.2]") {
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

TEST_CASE("the result has the values of the operation, not a copy", "[lab03][lab03.2]") {
    const Tensor w = leaf({3, 4});
    const Tensor values = ops::add(w, w);
    const Tensor y = record("double", values, {w},
                            [](const Tensor&, const Node&) { return Grads(1); });
    CHECK(values_of(y) == Values{6, 8});
    INFO("record changes the graph; the values need no second place in memory");
    CHECK(y.shares_storage(values));
}

TEST_CASE("an operation that returns its input leaves the input as it was",
          "[lab03][lab03.2]") {
    const auto same = [](const Tensor& x) {
        return record("same", x, {x},
                      [](const Tensor&, const Node&) { return Grads(1); });
    };
    const Tensor x = leaf({3, 4});
    const Tensor y = same(x);
    INFO(
        "x is a leaf, and y = record(\"same\", x, {x}, ...) has x itself as the result,");
    INFO("as reshape to the same shape may");
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
    record("same", frozen, {x}, [](const Tensor&, const Node&) { return Grads(1); });
    INFO(
        "the result is a leaf that requires no grad and is not an input; x requires "
        "grad");
    CHECK(frozen.is_leaf());
    CHECK_FALSE(frozen.requires_grad());
}

TEST_CASE("the node computes gradients by the backward function that was recorded",
          "[lab03][lab03.2]") {
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

TEST_CASE("a leaf has one accumulator, which keeps its hooks", "[lab03][lab03.2]") {
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

TEST_CASE("a graph is freed with its last result", "[lab03][lab03.2]") {
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

TEST_CASE("a graph keeps nodes, not tensors", "[lab03][lab03.2]") {
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

TEST_CASE("a graph of 100,000 nodes is freed without recursion", "[lab03][lab03.2]") {
    Tensor y = leaf({1});
    for (int i = 0; i < 100000; ++i) y = recorded("step", {y});
    INFO(
        "y is the end of a chain; ~Node, which is given, frees it in a loop, if nothing");
    INFO("but Node::inputs() keeps nodes");
    y = Tensor();
    CHECK_FALSE(y.defined());
}

TEST_CASE("two threads get one accumulator of a leaf", "[lab03][lab03.2]") {
    grad_accumulator(leaf({1}));  // throws here, not in a thread, if it is not written
    const Tensor w = leaf({1});
    std::shared_ptr<Node> accumulator;
    std::atomic<bool> has_returned = false;
    std::unique_lock lock(w.autograd_meta()->mutex);
    std::thread other([&] {
        accumulator = grad_accumulator(w);
        has_returned = true;
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    const bool waited = !has_returned;
    const auto mine = grad_accumulator(w);
    lock.unlock();
    other.join();
    INFO("this thread holds the mutex of w's AutogradMeta, while another thread calls");
    INFO("grad_accumulator(w), which has to wait: without the lock each of two threads");
    INFO("may create an accumulator");
    CHECK(waited);
    CHECK(accumulator == mine);
}

TEST_CASE("only a leaf that requires grad has an accumulator", "[lab03][lab03.2]") {
    const Tensor w = leaf({1});
    const Tensor result = recorded("result", {w});
    INFO("grad_accumulator throws Error for a result, and for a tensor without grad");
    CHECK_THROWS_AS(grad_accumulator(result), Error);
    CHECK_THROWS_AS(grad_accumulator(constant({1})), Error);
    Tensor frozen = leaf({1});
    frozen.set_requires_grad(false);
    CHECK_THROWS_AS(grad_accumulator(frozen), Error);
}

TEST_CASE("a node that is made later has a higher number, and a leaf the highest",
          "[lab03][lab03.2]") {
    const Tensor w = leaf({1});
    const Tensor a = recorded("a", {w}), b = recorded("b", {w}), c = recorded("c", {a});
    INFO("a = f(w), b = f(w), c = f(a): the numbers are "
         << node_of(a)->sequence() << ", " << node_of(b)->sequence() << ", "
         << node_of(c)->sequence());
    CHECK(node_of(a)->sequence() < node_of(b)->sequence());
    CHECK(node_of(b)->sequence() < node_of(c)->sequence());
    CHECK(grad_accumulator(w)->sequence() == std::numeric_limits<uint64_t>::max());
}

TEST_CASE("a released node frees what it saved, and names itself in the error",
          "[lab03][lab03.2]") {
    const Tensor w = leaf({1});
    const auto saved = std::make_shared<int>(0);
    const Tensor y =
        record("product", constant({2}), {w},
               [saved](const Tensor& g, const Node&) -> Grads { return {g}; });
    REQUIRE(saved.use_count() == 2);
    node_of(y)->release();
    INFO("y = product(w) has saved a value; release() was called");
    CHECK(saved.use_count() == 1);
    const std::string message = message_of([&] { node_of(y)->apply(constant({1})); });
    INFO("then apply(): an Error that names the operation and what to pass: " << message);
    CHECK(contains(message, "product"));
    CHECK(contains(message, "retain_graph"));
}

TEST_CASE("what a backward function returns is checked", "[lab03][lab03.2]") {
    const Tensor a = leaf({1, 2}), b = leaf({1, 2});
    const auto message = [&](const Grads& grads) {
        const Tensor y = record("mine", constant({1, 2}), {a, b},
                                [=](const Tensor&, const Node&) { return grads; });
        return message_of([&] { node_of(y)->apply(constant({1, 1})); });
    };
    const std::string one = message({constant({1, 1})}),
                      short_one = message({constant({1, 1}), constant({1})});
    INFO("record has the backward function checked(), which graph.hpp declares: there");
    INFO(
        "are two inputs of shape (2,). The message for one gradient, which must name "
        "the");
    INFO("operation, mine: " << one);
    CHECK(contains(one, "mine"));
    INFO(
        "for a second gradient of shape (1,), where it must name input 1: " << short_one);
    CHECK(contains(short_one, "input 1"));
    CHECK(message({constant({1, 1}), Tensor()}).empty());
}

// ---- 03.4

namespace {

// Sends a gradient to a leaf, as the backward pass does.
void send(const Tensor& x, Tensor gradient) {
    grad_accumulator(x)->apply(std::move(gradient));
}

}  // namespace

TEST_CASE("the first gradient of a leaf is stored and later ones are added",
          "[lab03][lab03.4]") {
    const Tensor w = leaf({1, 2});
    send(w, constant({10, 20}));
    INFO("10 20 arrived at w, which had no gradient");
    REQUIRE(w.grad().defined());
    REQUIRE(values_of(w.grad()) == Values{10, 20});
    send(w, constant({1, 2}));
    INFO("then 1 2 arrived in a second pass");
    REQUIRE(values_of(w.grad()) == Values{11, 22});
}

TEST_CASE("a gradient is added in place, so that a view of a bucket stays a view",
          "[lab03][lab03.4]") {
    Tensor w = leaf({1, 2});
    Tensor bucket = Tensor::zeros({4});
    w.set_grad(ops::narrow(bucket, 0, 1, 2));
    send(w, constant({10, 20}));
    send(w, ops::expand(Tensor::scalar(1), {2}));
    INFO("w.grad() is a view of places 1 and 2 of a bucket of 4 zeros, as in lab 16;");
    INFO("10 20 arrived, and one number, 1, expanded to (2,); the bucket is now "
         << in_words(bucket));
    REQUIRE(values_of(bucket) == Values{0, 11, 21, 0});
}

TEST_CASE("the gradients of two leaves do not share their values", "[lab03][lab03.4]") {
    const Tensor a = leaf({1}), b = leaf({2});
    const Tensor g = constant({10});
    send(a, g);
    send(b, g);
    send(a, constant({1}));
    INFO("the same tensor, 10, arrived at a and at b, as from a + b; then 1 at a only");
    INFO("a has " << in_words(a.grad()) << ", b has " << in_words(b.grad())
                  << ", and the tensor that was sent holds " << in_words(g));
    CHECK(values_of(a.grad()) == Values{11});
    CHECK(values_of(b.grad()) == Values{10});
    CHECK(values_of(g) == Values{10});
}

TEST_CASE("a gradient may be an expanded or a transposed view", "[lab03][lab03.4]") {
    const Tensor w = leaf({0, 0, 0, 0}, {2, 2});
    const bool expanded_first = GENERATE(true, false);
    INFO("the gradient of sum(w) is one number, expanded to (2, 2) with strides 0; that");
    INFO("of transpose(w) is transposed: 1 2 3 4 is read 1 3 2 4");
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
          "[lab03][lab03.4]") {
    const Tensor w = leaf({1});
    Journal journal;
    const int first = add_hook(journal, "w, first:", w);
    add_hook(journal, "w, second:", w);
    INFO("two hooks of w write w.grad(); 10 arrives, then 1");
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

TEST_CASE("the id of a hook names this hook only", "[lab03][lab03.4]") {
    const Tensor w = leaf({1});
    Journal journal;
    const int a = add_hook(journal, "w, a:", w), b = add_hook(journal, "w, b:", w);
    grad_accumulator(w)->remove_hook(a);
    grad_accumulator(w)->remove_hook(a);
    add_hook(journal, "w, c:", w);
    send(w, constant({10}));
    INFO("hooks a and b are added, a is removed twice, c is added; the journal: "
         << in_words(journal));
    REQUIRE(journal == Journal{"hook of w, b: 10", "hook of w, c: 10"});
    grad_accumulator(w)->remove_hook(b);
    journal.clear();
    send(w, constant({1}));
    INFO("then b is removed; the journal: " << in_words(journal));
    REQUIRE(journal == Journal{"hook of w, c: 11"});
}

TEST_CASE("a hook gets the leaf itself, and may change its gradient",
          "[lab03][lab03.4]") {
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

TEST_CASE("a gradient of another shape or dtype is an error and changes nothing",
          "[lab03][lab03.4]") {
    const bool has_gradient = GENERATE(true, false);
    const Tensor other = leaf({1}), w = leaf({1, 2}, {1, 2});
    send(has_gradient ? w : other, Tensor::ones(has_gradient ? Shape{1, 2} : Shape{1}));
    int calls = 0;
    grad_accumulator(w)->add_hook([&](const Tensor&) { ++calls; });
    INFO("w has two floats, of shape (1, 2), and "
         << (has_gradient ? "a" : "no")
         << " gradient; one float comes, which must not be");
    INFO("broadcast, then two floats of shape (2, 1), then two integers");
    CHECK_THROWS_AS(send(w, Tensor::ones({1, 1})), ShapeError);
    CHECK_THROWS_AS(send(w, Tensor::ones({2, 1})), ShapeError);
    CHECK_THROWS_AS(send(w, Tensor::ones({1, 2}, DType::kInt64)), ShapeError);
    CHECK(values_of(w.grad()) == (has_gradient ? Values{1, 1} : Values{}));
    INFO("nothing was added, so no hook is called");
    CHECK(calls == 0);
}

TEST_CASE("the accumulator does not keep its leaf", "[lab03][lab03.4]") {
    Tensor w = leaf({1});
    int calls = 0;
    const auto accumulator = grad_accumulator(w);
    accumulator->apply(constant({1}));
    accumulator->add_hook([&](const Tensor&) { ++calls; });
    const WeakTensor values(w);
    w = Tensor();
    INFO("the program has dropped the leaf; a node still has its accumulator");
    CHECK_FALSE(values.lock().defined());
    CHECK(accumulator->apply(constant({5})).empty());
    INFO("the leaf is gone, so no hook is called");
    CHECK(calls == 0);
}

TEST_CASE("two threads: each addition and its hooks complete before the next",
          "[lab03][lab03.4]") {
    const Tensor w = leaf({0});
    send(w, constant({100}));
    std::atomic<int> inside = 0;
    std::atomic<bool> overlapped = false;
    grad_accumulator(w)->add_hook([&](const Tensor&) {
        if (++inside > 1) overlapped = true;
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        --inside;
    });
    std::thread other([&] { send(w, constant({1})); });
    send(w, constant({10}));
    other.join();
    INFO("two passes on two threads reach w; its hook takes 20 ms. AutogradMeta has a");
    INFO("mutex for this");
    CHECK_FALSE(overlapped);
    CHECK(values_of(w.grad()) == Values{111});
}
