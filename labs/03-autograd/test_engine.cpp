// The checks of lab 03, task 03.5: the backward pass.

#include <cstdint>
#include <memory>
#include <stdexcept>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "labs/03-autograd/test_support.hpp"
#include "libmini/autograd/engine.hpp"

using namespace mini;
using namespace mini::lab03;

namespace {

void backward(const Tensor& result, bool retain_graph = false) {
    result.backward(
        {.gradient = Tensor::ones(result.shape()), .retain_graph = retain_graph});
}

}  // namespace

TEST_CASE("a gradient goes down a chain", "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    const Tensor a = traced(journal, "a", {{3, w}});
    const Tensor b = traced(journal, "b", {{5, a}});
    b.backward({.gradient = constant({2})});
    INFO("a = 3 w, b = 5 a, and b.backward(2): b gets 2, a gets 10, w gets 30");
    INFO("the nodes were called with: " << in_words(journal));
    REQUIRE(journal == Journal{"b 2", "a 10"});
    REQUIRE(values_of(w.grad()) == Values{30});
}

TEST_CASE("the pass of the warm-up", "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({2});
    add_hook(journal, "w", w);
    const Tensor p = traced(journal, "p", {{3, w}});
    const Tensor square = p * p;
    const Tensor loss = square + p;
    backward(loss);
    INFO(
        "w = 2, p = 3 w = 6, square = p p, loss = square + p: p gets 6 + 6 + 1 = 13, "
        "and");
    INFO("w gets 39; the journal: " << in_words(journal));
    {
        INFO("p is called once, when all three contributions have come");
        REQUIRE(journal.size() == 2);
        REQUIRE(journal[0] == "p 13");
    }
    INFO("a hook of a leaf sees the whole gradient, and is called exactly once");
    REQUIRE(journal[1] == "hook of w 39");
}

TEST_CASE("a leaf with many uses calls its hook once, with the sum", "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    add_hook(journal, "w", w);
    Tensor total = traced(journal, "t", {{1, w}});
    for (const float factor : {10.0f, 100.0f, 1000.0f})
        total = traced(journal, "t", {{1, total}, {factor, w}});
    backward(total);
    INFO("t = w, t = t + 10 w, t = t + 100 w, t = t + 1000 w; the journal: "
         << in_words(journal));
    INFO("w has four senders, and is ready when all of them have sent");
    Journal hooks;
    for (const std::string& line : journal)
        if (line.starts_with("hook")) hooks.push_back(line);
    REQUIRE(hooks == Journal{"hook of w 1111"});
}

TEST_CASE("two edges from one node are two contributions", "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    add_hook(journal, "w", w);
    const Tensor three = traced(journal, "three", {{3, w}});
    const Tensor twice = traced(journal, "twice", {{10, w}, {100, w}});
    backward(traced(journal, "loss", {{1, three}, {1, twice}}));
    INFO(
        "three = 3 w, twice = 10 w + 100 w, loss = three + twice: w has three edges "
        "from");
    INFO("two nodes; the journal: " << in_words(journal));
    INFO("of the ready nodes the highest number goes first: twice was made after three");
    REQUIRE(journal == Journal{"loss 1", "twice 1", "three 1", "hook of w 113"});
}

TEST_CASE("the node that was made last goes first", "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    const Tensor a = traced(journal, "a", {{1, w}});
    const Tensor b = traced(journal, "b", {{2, w}});
    const Tensor c = traced(journal, "c", {{3, a}});
    const Tensor d = traced(journal, "d", {{4, b}});
    backward(traced(journal, "e", {{10, c}, {100, d}}));
    INFO("made in the order a = w, b = 2 w, c = 3 a, d = 4 b, e = 10 c + 100 d; called: "
         << in_words(journal));
    INFO("of the ready nodes, the one with the highest sequence number goes first");
    REQUIRE(journal == Journal{"e 1", "d 100", "c 10", "b 400", "a 30"});
    REQUIRE(values_of(w.grad()) == Values{830});
}

TEST_CASE("a leaf goes before all others; of the leaves, the one that was ready first",
          "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1}), a = leaf({1}), b = leaf({1}), c = leaf({1}),
                 d = leaf({1}), e = leaf({1});
    add_hook(journal, "w", w);
    for (const auto& [name, x] :
         {std::pair("d", d), {"a", a}, {"e", e}, {"b", b}, {"c", c}})
        add_hook(journal, name, x);
    const Tensor first = traced(journal, "first", {{3, w}});
    backward(traced(journal, "second",
                    {{1, a}, {2, b}, {3, c}, {2, first}, {4, d}, {5, e}, {6, a}}));
    INFO(
        "first = 3 w, second = a + 2 b + 3 c + 2 first + 4 d + 5 e + 6 a, where all but");
    INFO("second and first are leaves; the journal: " << in_words(journal));
    INFO(
        "a node sends to its inputs in their order, so b, c, d, e and a become ready in");
    INFO("this order, and a leaf goes before all others");
    REQUIRE(journal == Journal{"second 1", "hook of b 2", "hook of c 3", "hook of d 4",
                               "hook of e 5", "hook of a 7", "first 2", "hook of w 6"});
}

TEST_CASE("two passes add up, and call the hook twice", "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    add_hook(journal, "w", w);
    backward(traced(journal, "a", {{3, w}}));
    backward(traced(journal, "b", {{4, w}}));
    INFO("the journal: " << in_words(journal));
    REQUIRE(journal == Journal{"a 1", "hook of w 3", "b 1", "hook of w 7"});
}

TEST_CASE("backward may start at a leaf", "[lab03][lab03.5]") {
    const Tensor w = leaf({1});
    backward(w);
    INFO("the root is the accumulator of w, which no node sends to");
    REQUIRE(values_of(w.grad()) == Values{1});
}

TEST_CASE("contributions that share their values do not change each other",
          "[lab03][lab03.5]") {
    const Tensor w = leaf({1}), v = leaf({1});
    const Tensor doubled = w + w;  // both contributions are one tensor
    const Tensor g = constant({5});
    (doubled + v).backward({.gradient = g});
    INFO(
        "(w + w + v).backward(5): + sends the same tensor to both of its inputs, and "
        "the");
    INFO("first of these tensors is the one that was passed");
    INFO("w has " << in_words(w.grad()) << ", v has " << in_words(v.grad())
                  << ", the passed tensor now holds " << in_words(g));
    CHECK(values_of(w.grad()) == Values{10});
    CHECK(values_of(v.grad()) == Values{5});
    CHECK(values_of(g) == Values{5});
}

TEST_CASE("an undefined contribution counts, but adds nothing", "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    const Tensor p = traced(journal, "p", {{3, w}});
    const bool stop_is_last = GENERATE(true, false);
    const auto stop = [](const Tensor& x) {
        return record("stop", constant({0}), {x},
                      [](const Tensor&, const Node&) { return Grads(1); });
    };
    Tensor loss;
    if (stop_is_last) {
        const Tensor five = traced(journal, "five", {{5, p}});
        loss = traced(journal, "loss", {{1, five}, {1, stop(p)}});
    } else {
        const Tensor stopped = stop(p);
        loss = traced(journal, "loss",
                      {{1, traced(journal, "five", {{5, p}})}, {1, stopped}});
    }
    backward(loss);
    INFO("p = 3 w, loss = 5 p + stop(p), where the backward function of stop returns an");
    INFO("undefined tensor; stop goes " << (stop_is_last ? "before" : "after")
                                        << " 5 p; the journal: " << in_words(journal));
    INFO("p waits for both senders, and then has the gradient 5");
    REQUIRE(journal == Journal{"loss 1", "five 1", "p 5"});
    REQUIRE(values_of(w.grad()) == Values{15});
}

TEST_CASE("a node that got no gradient is not called, but its inputs stop waiting for it",
          "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1}), u = leaf({1});
    const Tensor p = traced(journal, "p", {{3, w}, {1, u}});
    const Tensor stopped = record("stop", constant({0}), {p},
                                  [](const Tensor&, const Node&) { return Grads(1); });
    backward(traced(journal, "loss", {{1, stopped}, {7, w}}));
    INFO(
        "p = 3 w + u, loss = stop(p) + 7 w: nothing comes to p, but 7 comes to w, which");
    INFO("also waits for p; the journal: " << in_words(journal));
    REQUIRE(journal == Journal{"loss 1"});
    REQUIRE(values_of(w.grad()) == Values{7});
    INFO("u got nothing: it has no gradient, not a gradient of 0");
    REQUIRE_FALSE(u.grad().defined());
}

TEST_CASE("a contribution goes to the input in its place", "[lab03][lab03.5]") {
    const Tensor a = leaf({1}), data = constant({1}), b = leaf({1});
    const Tensor y =
        record("layer", constant({0}), {data, a, data, b},
               [](const Tensor&, const Node&) -> Grads {
                   return {constant({1}), constant({2}), constant({3}), constant({4})};
               });
    backward(y);
    INFO("the inputs are data, a, data, b, the backward function returns 1 2 3 4; data");
    INFO("requires no grad, so its node is null, and its gradient is ignored");
    CHECK(values_of(a.grad()) == Values{2});
    CHECK(values_of(b.grad()) == Values{4});
}

TEST_CASE("a diamond on a diamond takes as many calls as it has nodes",
          "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    Tensor y = w;
    for (int i = 0; i < 40; ++i) y = traced(journal, "half", {{0.5f, y}, {0.5f, y}});
    backward(y);
    INFO("40 times y = y/2 + y/2: 2^40 paths from the loss to w");
    REQUIRE(journal.size() == 40);
    REQUIRE(values_of(w.grad()) == Values{1});
}

TEST_CASE("a second pass without retain_graph is an error that names what to do",
          "[lab03][lab03.5]") {
    const Tensor w = leaf({2});
    const Tensor loss = w * w;
    backward(loss);
    REQUIRE(values_of(w.grad()) == Values{4});
    const std::string message = message_of([&] { backward(loss); });
    INFO("after a pass each node is released, and then refuses a second pass");
    INFO("the message: " << message);
    CHECK(contains(message, "mul"));
    CHECK(contains(message, "retain_graph"));
}

TEST_CASE("with retain_graph a second pass adds the same gradients again",
          "[lab03][lab03.5]") {
    const Tensor w = leaf({2});
    const Tensor loss = w * w;
    const std::string message = message_of([&] {
        backward(loss, /*retain_graph=*/true);
        backward(loss, /*retain_graph=*/true);
        backward(loss);
    });
    INFO("w = 2, loss = w w: 4 for each of three passes; message: " << message);
    CHECK(values_of(w.grad()) == Values{12});
}

TEST_CASE("a node is released as soon as it has sent its contributions",
          "[lab03][lab03.5]") {
    const bool retain_graph = GENERATE(false, true);
    const Tensor w = leaf({1});
    const auto saved_by_a = std::make_shared<int>(0),
               saved_by_b = std::make_shared<int>(0);
    long uses_of_b_in_a = 0;
    const Tensor a = record("a", constant({0}), {w},
                            [&, saved_by_a](const Tensor& g, const Node&) -> Grads {
                                uses_of_b_in_a = saved_by_b.use_count();
                                return {g};
                            });
    const Tensor b =
        record("b", constant({0}), {a},
               [saved_by_b](const Tensor& g, const Node&) -> Grads { return {g}; });
    backward(b, retain_graph);
    INFO("a = f(w), b = g(a); the nodes of a and b each save a value; retain_graph is "
         << (retain_graph ? "true" : "false"));
    REQUIRE(values_of(w.grad()) == Values{1});
    if (retain_graph) {
        INFO("with retain_graph both nodes keep what they have saved");
        CHECK(saved_by_a.use_count() == 2);
        CHECK(saved_by_b.use_count() == 2);
    } else {
        INFO("b's value is free when a is called, not at the end of the pass: so memory");
        INFO("falls during the pass");
        CHECK(uses_of_b_in_a == 1);
        CHECK(saved_by_a.use_count() == 1);
    }
}

TEST_CASE("every node is released, also one that some gradients pass by",
          "[lab03][lab03.5]") {
    const Tensor w = leaf({1}), data = constant({1});
    const auto saved = std::make_shared<int>(0);
    const auto layer = [&](const Tensor& x) {
        return record("layer", constant({0}), {data, x},
                      [saved](const Tensor& g, const Node&) -> Grads {
                          return {Tensor(), g};
                      });
    };
    const auto stop = [&](const Tensor& x) {
        return record("stop", constant({0}), {x},
                      [saved](const Tensor&, const Node&) { return Grads(1); });
    };
    const Tensor loss = layer(layer(layer(w)) + stop(layer(w)));
    REQUIRE(saved.use_count() == 6);
    backward(loss);
    INFO(
        "four layers f(data, x), where data needs no gradient; the one below stop, "
        "which");
    INFO(
        "returns an undefined gradient, is never called; each of the five saves a value");
    CHECK(values_of(w.grad()) == Values{1});
    CHECK(saved.use_count() == 1);
}

TEST_CASE("a gradient is freed when its node has been called", "[lab03][lab03.5]") {
    const Tensor w = leaf({1});
    Tensor gradient = constant({3});
    const WeakTensor passed(gradient);
    WeakTensor gradient_of_b;
    bool passed_is_freed = false, gradient_of_b_is_freed = false;
    const Tensor a =
        record("a", constant({0}), {w}, [&](const Tensor& g, const Node&) -> Grads {
            gradient_of_b_is_freed = !gradient_of_b.lock().defined();
            return {g};
        });
    const Tensor b =
        record("b", constant({0}), {a}, [&](const Tensor& g, const Node&) -> Grads {
            passed_is_freed = !passed.lock().defined();
            gradient_of_b = WeakTensor(g);
            return {ops::add(g, g)};
        });
    const Tensor c =
        record("c", constant({0}), {b},
               [](const Tensor& g, const Node&) -> Grads { return {ops::add(g, g)}; });
    run_backward(node_of(c), std::move(gradient), false);
    INFO("c = f(b), b = f(a), a = f(w); b and c pass on 2 g, a new tensor. When a is");
    INFO("called, nothing needs the gradient of b; when b is called, nothing needs the");
    INFO("gradient that was moved into run_backward");
    CHECK(values_of(w.grad()) == Values{12});
    CHECK(gradient_of_b_is_freed);
    CHECK(passed_is_freed);
}

TEST_CASE("callbacks are called at the end, once, in the order in which they came",
          "[lab03][lab03.5]") {
    Journal journal;
    const Tensor a = leaf({1}), b = leaf({1});
    for (const auto& [name, x] : {std::pair("a", a), std::pair("b", b)})
        grad_accumulator(x)->add_hook([&journal, name = name](const Tensor&) {
            journal.push_back(concat("hook of ", name));
            queue_callback([&journal, name = name] {
                journal.push_back(concat("callback of ", name));
            });
        });
    const Tensor first = traced(journal, "first", {{3, a}});
    backward(traced(journal, "second", {{1, first}, {5, b}}));
    INFO(
        "the hooks of a and b each queue a callback; the journal: " << in_words(journal));
    REQUIRE(journal == Journal{"second 1", "hook of b", "first 1", "hook of a",
                               "callback of b", "callback of a"});
}

TEST_CASE("a callback may add another callback", "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    grad_accumulator(w)->add_hook([&](const Tensor&) {
        queue_callback([&journal] {
            for (int i = 0; i < 20; ++i)
                queue_callback([&journal] { journal.emplace_back("later"); });
            journal.emplace_back("first");
        });
    });
    backward(w);
    INFO("the first callback adds 20 others, for which the vector must move in memory:");
    INFO("what refers to its elements is then invalid");
    REQUIRE(journal.size() == 21);
    REQUIRE(journal.front() == "first");
}

TEST_CASE("a pass over 100,000 nodes needs no deep stack", "[lab03][lab03.5]") {
    const Tensor w = leaf({1});
    Tensor y = w;
    for (int i = 0; i < 100000; ++i)
        y = record("step", y.detach(), {y},
                   [](const Tensor& g, const Node&) -> Grads { return {g}; });
    backward(y);
    INFO("a chain of 100,000 nodes; each passes its gradient on");
    REQUIRE(values_of(w.grad()) == Values{1});
}

TEST_CASE("a user of a node that is no part of the pass sends nothing",
          "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    const Tensor p = traced(journal, "p", {{3, w}});
    const Tensor loss = traced(journal, "loss", {{2, p}});
    const Tensor other = traced(journal, "other", {{7, p}, {9, w}});
    backward(loss);
    INFO("p = 3 w, loss = 2 p; other uses p and w, but loss does not depend on other");
    INFO("the journal: " << in_words(journal));
    REQUIRE(journal == Journal{"loss 1", "p 2"});
    CHECK(values_of(w.grad()) == Values{6});
}

TEST_CASE("nothing is recorded during a pass", "[lab03][lab03.5]") {
    const Tensor w = leaf({1});
    bool by_hook = true, by_node = true, by_callback = true;
    grad_accumulator(w)->add_hook([&](const Tensor& of) {
        by_hook = (of * of).requires_grad();
        queue_callback([&] { by_callback = (w * w).requires_grad(); });
    });
    const Tensor y =
        record("y", constant({0}), {w}, [&](const Tensor& g, const Node&) -> Grads {
            by_node = (w * w).requires_grad();
            return {g};
        });
    backward(y);
    INFO("a backward function, a hook and a callback each compute w w, where w requires");
    INFO("grad: see NoGradGuard");
    CHECK_FALSE(by_node);
    CHECK_FALSE(by_hook);
    CHECK_FALSE(by_callback);
    INFO("after the pass operations are recorded again");
    CHECK((w * w).requires_grad());
}

TEST_CASE("a hook may start a pass, which ends before the hook goes on",
          "[lab03][lab03.5]") {
    Journal journal;
    const auto note = [&](const char* text) {
        return [&journal, text] { journal.emplace_back(text); };
    };
    const Tensor w = leaf({1}), v = leaf({1});
    const Tensor a = traced(journal, "a", {{3, v}}), b = traced(journal, "b", {{100, v}});
    const Tensor inner = traced(journal, "inner", {{10, v}, {1, b}});
    add_hook(journal, "v", v);
    grad_accumulator(v)->add_hook(
        [&](const Tensor&) { queue_callback(note("end of v")); });
    grad_accumulator(w)->add_hook([&](const Tensor&) {
        queue_callback(note("first callback"));
        backward(inner);
        journal.emplace_back("hook of w goes on");
        queue_callback(note("second callback"));
    });
    backward(traced(journal, "outer", {{2, w}, {5, v}, {1, a}}));
    INFO(
        "a = 3 v, outer = 2 w + 5 v + a. The hook of w runs a pass from inner = 10 v + "
        "b,");
    INFO("where b = 100 v: then a is ready in the outer pass, and v waits in both; the");
    INFO("hook of v queues a callback, \"end of v\"; the journal: " << in_words(journal));
    REQUIRE(journal == Journal{"outer 1", "inner 1", "b 1", "hook of v 110", "end of v",
                               "hook of w goes on", "a 1", "hook of v 118",
                               "first callback", "second callback", "end of v"});
    CHECK(values_of(w.grad()) == Values{2});
}

TEST_CASE("a callback is queued during a pass only", "[lab03][lab03.5]") {
    CHECK_THROWS_AS(queue_callback([] {}), Error);
    backward(leaf({1}));
    INFO("no pass is running: before the first one, and after it");
    CHECK_THROWS_AS(queue_callback([] {}), Error);
}

TEST_CASE("an exception ends the pass, and the next one is not disturbed",
          "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    const int hook = grad_accumulator(w)->add_hook([&](const Tensor&) {
        queue_callback([&] { journal.emplace_back("callback of the failed pass"); });
        throw Error("from the hook");
    });
    const Tensor first = traced(journal, "first", {{3, w}});
    INFO("the hook of w queues a callback and throws");
    CHECK(message_of([&] { backward(first); }) == "from the hook");
    CHECK_THROWS_AS(queue_callback([] {}), Error);
    CHECK((w * w).requires_grad());
    grad_accumulator(w)->remove_hook(hook);
    backward(traced(journal, "second", {{4, w}}));
    INFO("then a second pass, without the hook; the journal: " << in_words(journal));
    CHECK(journal == Journal{"first 1", "second 1"});
    CHECK(values_of(w.grad()) == Values{7});
}

TEST_CASE("an exception that ends a pass has the type with which it was thrown",
          "[lab03][lab03.5]") {
    const std::string thrower = GENERATE("node", "hook", "callback");
    const auto throw_if = [thrower](const char* name) {
        if (thrower == name) throw std::out_of_range("planned");
    };
    const Tensor w = leaf({1});
    const auto saved = std::make_shared<int>(0);
    grad_accumulator(w)->add_hook([&](const Tensor&) {
        throw_if("hook");
        queue_callback([&] { throw_if("callback"); });
    });
    const Tensor y = record("y", constant({0}), {w},
                            [&, saved](const Tensor& g, const Node&) -> Grads {
                                throw_if("node");
                                return {g};
                            });
    INFO("y = f(w); a " << thrower << " throws std::out_of_range: the caller of the");
    INFO("pass gets this exception, not another one with its message");
    CHECK_THROWS_AS(backward(y), std::out_of_range);
    INFO("y's node is released, except if its own apply() throws");
    CHECK(saved.use_count() == (thrower == "node" ? 2 : 1));
    CHECK_THROWS_AS(queue_callback([] {}), Error);
    CHECK((w * w).requires_grad());
}

TEST_CASE("a callback that throws is the last one of its pass", "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1});
    const int hook = grad_accumulator(w)->add_hook([&](const Tensor&) {
        queue_callback([&] { journal.emplace_back("first callback"); });
        queue_callback([] { throw Error("from the second callback"); });
        queue_callback([&] { journal.emplace_back("third callback"); });
    });
    CHECK(message_of([&] { backward(w); }) == "from the second callback");
    grad_accumulator(w)->remove_hook(hook);
    backward(w);
    INFO("a hook queues three callbacks, and the second throws: the third is not");
    INFO("called, also not in a later pass; the journal: " << in_words(journal));
    CHECK(journal == Journal{"first callback"});
}

TEST_CASE("a pass on one thread is not running on another", "[lab03][lab03.5]") {
    Journal journal;
    const Tensor w = leaf({1}), v = leaf({1});
    std::string message;
    grad_accumulator(v)->add_hook([&](const Tensor&) {
        queue_callback([&] { journal.emplace_back("callback of the other thread"); });
    });
    const Tensor y =
        record("y", constant({0}), {w}, [&](const Tensor& g, const Node&) -> Grads {
            std::thread([&] {
                message = message_of([] { queue_callback([] {}); });
                backward(v);
            }).join();
            queue_callback([&] { journal.emplace_back("callback of y"); });
            return {g};
        });
    backward(y);
    INFO("the backward function of y starts a thread, which calls queue_callback, runs");
    INFO("a pass from v and ends; the journal: " << in_words(journal));
    {
        INFO("on the new thread no pass is running at first: queue_callback must throw");
        CHECK_FALSE(message.empty());
    }
    CHECK(journal == Journal{"callback of the other thread", "callback of y"});
}

namespace {

// A node that record() did not make, and that counts its calls.
class CountingNode : public Node {
  public:
    CountingNode(std::vector<std::shared_ptr<Node>> inputs, uint64_t sequence)
        : Node("counting", std::move(inputs), sequence) {}

    Grads apply(Tensor grad) override {
        ++applied;
        return Grads(inputs().size(), grad);
    }
    void release() override { ++released; }

    int applied = 0;
    int released = 0;
};

}  // namespace

TEST_CASE("the engine calls and releases any node once", "[lab03][lab03.5]") {
    const Tensor w = leaf({1});
    const auto low = std::make_shared<CountingNode>(
        std::vector<std::shared_ptr<Node>>{grad_accumulator(w)}, 1);
    const auto high = std::make_shared<CountingNode>(
        std::vector<std::shared_ptr<Node>>{low, nullptr, low}, 2);
    const bool retain_graph = GENERATE(false, true);
    run_backward(high, constant({5}), retain_graph);
    INFO("high has the inputs low, null and low, and low has the leaf w; retain_graph is "
         << (retain_graph ? "true" : "false"));
    CHECK(high->applied == 1);
    CHECK(low->applied == 1);
    CHECK(high->released == (retain_graph ? 0 : 1));
    CHECK(low->released == (retain_graph ? 0 : 1));
    CHECK(values_of(w.grad()) == Values{10});
}

TEST_CASE("a node waits for all contributions, whatever the sequence numbers are",
          "[lab03][lab03.5]") {
    using Nodes = std::vector<std::shared_ptr<Node>>;
    const Tensor w = leaf({1});
    const auto b = std::make_shared<CountingNode>(Nodes{grad_accumulator(w)}, 5);
    const auto a = std::make_shared<CountingNode>(Nodes{b}, 1);
    const auto root = std::make_shared<CountingNode>(Nodes{b, a}, 9);
    run_backward(root, constant({5}), false);
    INFO("root, with the number 9, has the inputs b and a; a, with the number 1, has");
    INFO("the input b, with the number 5. b gets 5 from root, but must wait for a: the");
    INFO("number decides between ready nodes; which are ready is counted");
    CHECK(a->applied == 1);
    CHECK(b->applied == 1);
    CHECK(b->released == 1);
    CHECK(values_of(w.grad()) == Values{10});
}

// ---- 03.7

TEST_CASE("exact: contributions are added in the order in which they come",
          "[lab03][lab03.7]") {
    Journal journal;
    const Tensor w = leaf({1});
    const Tensor a = traced(journal, "a", {{1, w}}),
                 b = traced(journal, "b", {{1e8f, w}}),
                 c = traced(journal, "c", {{-1e8f, w}});
    backward(traced(journal, "loss", {{1, a}, {1, b}, {1, c}}));
    INFO(
        "a = w, b = 1e8 w, c = -1e8 w, loss = a + b + c: c was made last, so w gets "
        "-1e8,");
    INFO(
        "1e8 and 1 in this order, which is 1. Another order loses the 1: floats near "
        "1e8");
    INFO("are 8 apart, so 1e8 + 1 is 1e8");
    CHECK(values_of(w.grad()) == Values{1});
}
