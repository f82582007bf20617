#include <string>
#include <thread>
#include <vector>

#include "libmini/autograd/functions.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using test::contains, test::message_of;

namespace {

using Values = std::vector<float>;

Tensor leaf(const Values& values) {
    Tensor x = Tensor::from(values);
    x.set_requires_grad();
    return x;
}

}  // namespace

TEST_CASE("the gradient of a leaf is the sum over all paths to the loss") {
    const Tensor x = leaf({3});
    const Tensor y = x * x + x;  // dy/dx = 2x + 1
    sum(y).backward();
    CHECK(x.grad().to_vector<float>() == Values{7});
}

TEST_CASE("a tensor used twice by one operation gets the sum of both gradients") {
    const Tensor x = leaf({1, 2});
    sum(x + x).backward();
    CHECK(x.grad().to_vector<float>() == Values{2, 2});
}

TEST_CASE("a node with two consumers waits for both gradients") {
    const Tensor x = leaf({2});
    const Tensor a = x * 3.0f;
    const Tensor b = relu(a) * 5.0f;
    const Tensor c = a * a;
    sum(b + c).backward();  // 15 + 18 x
    CHECK(x.grad().to_vector<float>() == Values{51});
}

TEST_CASE("gradients accumulate over backward passes until they are reset") {
    Tensor x = leaf({2});
    sum(x * 3.0f).backward();
    sum(x * 4.0f).backward();
    CHECK(x.grad().to_vector<float>() == Values{7});
    x.set_grad({});
    sum(x * 4.0f).backward();
    CHECK(x.grad().to_vector<float>() == Values{4});
}

TEST_CASE("gradients accumulate in place in the tensor passed to set_grad") {
    Tensor x = leaf({2, 3});
    Tensor flat = Tensor::zeros({4});
    x.set_grad(ops::narrow(flat, 0, 1, 2));
    sum(x * x).backward();
    CHECK(flat.to_vector<float>() == Values{0, 4, 6, 0});
}

TEST_CASE(
    "the gradients of two leaves that receive the same tensor do not share storage") {
    const Tensor a = leaf({1});
    const Tensor b = leaf({2});
    sum(a + b).backward();
    CHECK_FALSE(a.grad().shares_storage(b.grad()));
    sum(a * 10.0f).backward();
    CHECK(a.grad().to_vector<float>() == Values{11});
    CHECK(b.grad().to_vector<float>() == Values{1});
}

TEST_CASE("backward uses a passed gradient and does not change it") {
    const Tensor x = leaf({1, 2});
    const Tensor g = Tensor::from(Values{10, 100});
    (x * 2.0f).backward({.gradient = g});
    sum(x).backward();
    CHECK(x.grad().to_vector<float>() == Values{21, 201});
    CHECK(g.to_vector<float>() == Values{10, 100});
}

TEST_CASE("only tensors that require grad get gradients") {
    const Tensor x = leaf({2});
    const Tensor w = Tensor::from(Values{5});
    const Tensor y = w * w;
    CHECK_FALSE(y.requires_grad());
    const Tensor loss = sum(x * y);
    CHECK(loss.requires_grad());
    CHECK_FALSE(loss.is_leaf());
    loss.backward();
    CHECK(x.grad().to_vector<float>() == Values{25});
    CHECK_FALSE(w.grad().defined());
}

TEST_CASE("NoGradGuard disables recording and its destructor enables it again") {
    const Tensor x = leaf({2});
    {
        const NoGradGuard no_grad;
        CHECK_FALSE(is_grad_enabled());
        CHECK_FALSE((x * x).requires_grad());
    }
    CHECK(is_grad_enabled());
    CHECK((x * x).requires_grad());
    CHECK_FALSE((x * x).detach().requires_grad());
}

TEST_CASE("NoGradGuard affects the current thread only", "[threads]") {
    const NoGradGuard no_grad;
    bool enabled_elsewhere = false;
    std::jthread([&] { enabled_elsewhere = is_grad_enabled(); }).join();
    CHECK(enabled_elsewhere);
}

TEST_CASE(
    "a graph of 100000 nodes does not overflow the stack in backward or when freed") {
    const Tensor x = leaf({1});
    Tensor y = x;
    for (int i = 0; i < 100000; ++i) y = y + x;
    y.backward({.gradient = Tensor::ones({1})});
    CHECK(x.grad().to_vector<float>() == Values{100001});
}

TEST_CASE("a deep graph can be freed without a backward pass") {
    const Tensor x = leaf({1});
    Tensor y = x;
    for (int i = 0; i < 100000; ++i) y = neg(y);
    y = Tensor();
    CHECK_FALSE(x.grad().defined());
}

TEST_CASE("backward visits each node once even with an exponential number of paths") {
    const Tensor x = leaf({1});
    Tensor y = x;
    for (int i = 0; i < 40; ++i) y = (y + y) * 0.5f;
    sum(y).backward();
    CHECK(x.grad().to_vector<float>() == Values{1});
}

TEST_CASE(
    "a second backward pass through a freed graph throws and mentions retain_graph") {
    const Tensor x = leaf({2});
    const Tensor loss = sum(x * x);
    loss.backward();
    CHECK(message_of([&] { loss.backward(); }).find("retain_graph") != std::string::npos);
}

TEST_CASE("a graph with retain_graph supports a second backward pass") {
    const Tensor x = leaf({3});
    const Tensor loss = sum(x * x);
    loss.backward({.gradient = {}, .retain_graph = true});
    loss.backward();
    CHECK(x.grad().to_vector<float>() == Values{12});
}

TEST_CASE("backward throws with the reason if it cannot differentiate") {
    const Tensor x = leaf({1, 2});
    CHECK(message_of([&] { (x * x).backward(); }) ==
          "backward: a tensor of shape (2,) is not a scalar; pass its gradient");
    CHECK(message_of([] {
              Tensor::scalar(1).backward();
          }).find("does not require grad") != std::string::npos);
    CHECK_THROWS_AS((x * x).backward({.gradient = Tensor::ones({3})}), ShapeError);
}

TEST_CASE("backward throws if a saved value was changed in place") {
    const Tensor x = leaf({1, 2});
    const Tensor loss = sum(x * x);
    Tensor values = x.detach();
    ops::fill_(values, 7.0f);
    CHECK(message_of([&] { loss.backward(); }).find("changed in place") !=
          std::string::npos);
}

TEST_CASE("a value that no gradient needs may be changed in place") {
    const Tensor x = leaf({1, 2});
    const Tensor loss = sum(x + x);
    Tensor values = x.detach();
    ops::fill_(values, 7.0f);
    loss.backward();
    CHECK(x.grad().to_vector<float>() == Values{2, 2});
}

TEST_CASE("backward throws if a backward function returns the wrong gradients") {
    const Tensor a = leaf({1, 2, 3}), b = leaf({1, 2, 3});
    const auto message = [&](const Grads& grads) {
        const Tensor y = record("mine", ops::add(a, b), {a * 1.0f, b},
                                [=](const Tensor&, const Node&) { return grads; });
        return message_of([&] { sum(y).backward(); });
    };
    const Tensor good = Tensor::ones({3});
    CHECK(message({good}) ==
          "backward: the backward function of mine returned 1 gradients, but the "
          "operation has 2 inputs; return one for each, undefined if not needed");
    CHECK(contains(message({}), "returned 0 gradients"));
    CHECK(contains(message({good, good, good}), "returned 3 gradients"));
    CHECK(message({Tensor::ones({1}), good}) ==
          "backward: the backward function of mine returned a float32 gradient of shape "
          "(1,) for input 0, which is a float32 tensor of shape (3,)");
    CHECK(contains(message({good, Tensor::ones({3, 1})}), "for input 1"));
    CHECK(contains(message({good, Tensor::ones({3}, DType::kInt64)}),
                   "returned a int64 gradient"));
    CHECK(message({good, {}}) == "");
    CHECK(message({good, good}) == "");
}

TEST_CASE("a wrong gradient for an input that needs none is ignored") {
    const Tensor a = leaf({1, 2});
    const Tensor y = record("mine", ops::clone(a), {a, Tensor::ones({5}), {}},
                            [](const Tensor& g, const Node&) -> Grads {
                                return {g, Tensor::ones({7}), Tensor::ones({9})};
                            });
    sum(y).backward();
    CHECK(a.grad().to_vector<float>() == Values{1, 1});
}

TEST_CASE("the gradient of backward and of set_grad must have the tensor's dtype") {
    Tensor x = leaf({1, 2});
    const Tensor integers = Tensor::ones({2}, DType::kInt64);
    CHECK_THROWS_AS((x * x).backward({.gradient = integers}), ShapeError);
    CHECK_THROWS_AS(x.set_grad(integers), ShapeError);
    CHECK_THROWS_AS(x.set_grad(Tensor::ones({2}, DType::kFloat16)), ShapeError);
    CHECK_THROWS_AS(x.backward({.gradient = integers}), ShapeError);
    CHECK_FALSE(x.grad().defined());
}

TEST_CASE("threads that use one leaf at the same time add up all gradients",
          "[threads]") {
    constexpr int kPasses = 2000;
    const Tensor w = leaf({1});
    int hooked = 0;
    std::vector<std::thread> threads;
    for (int t = 0; t < 4; ++t)
        threads.emplace_back([&] {
            for (int i = 0; i < kPasses; ++i) sum(w + w).backward();
        });
    for (std::thread& thread : threads) thread.join();
    CHECK(w.grad().item() == 4 * 2 * kPasses);

    // A hook of the one accumulator sees every pass.
    grad_accumulator(w)->add_hook([&](const Tensor&) { ++hooked; });
    sum(w).backward();
    CHECK(hooked == 1);
}

TEST_CASE("the gradient of a leaf before backward is undefined, and its members throw") {
    const Tensor w = leaf({1});
    CHECK_FALSE(w.grad().defined());
    CHECK(contains(message_of([&] { w.grad().item(); }),
                   "a gradient that no backward pass has computed"));
    const Tensor none;
    CHECK_THROWS_AS(none.requires_grad(), Error);
    CHECK_THROWS_AS(none.is_leaf(), Error);
    CHECK_THROWS_AS(none.grad(), Error);
    CHECK_THROWS_AS(none.detach(), Error);
    CHECK_THROWS_AS(none.backward(), Error);
    CHECK_THROWS_AS(Tensor().set_requires_grad(), Error);
    CHECK_THROWS_AS(Tensor().set_grad({}), Error);
    CHECK_THROWS_AS(mini::add(w, none), Error);
}

TEST_CASE("set_requires_grad throws for integers and for results of operations") {
    CHECK_THROWS_AS(Tensor::zeros({1}, DType::kInt64).set_requires_grad(), ShapeError);
    Tensor y = leaf({1}) * 2.0f;
    CHECK_THROWS_AS(y.set_requires_grad(), Error);
}

TEST_CASE("backward called on a leaf adds to the gradient of this leaf") {
    const Tensor x = leaf({4});
    x.backward();
    CHECK(x.grad().to_vector<float>() == Values{1});
}

TEST_CASE("hooks run after accumulation in every pass until they are removed") {
    const Tensor x = leaf({1});
    Values seen;
    const int hook = grad_accumulator(x)->add_hook(
        [&](const Tensor& of) { seen.push_back(of.grad().to_vector<float>().front()); });
    sum(x * 2.0f).backward();
    sum(x * 3.0f).backward();
    grad_accumulator(x)->remove_hook(hook);
    sum(x * 4.0f).backward();
    CHECK(seen == Values{2, 5});
}

TEST_CASE("computations in a hook are not recorded") {
    const Tensor x = leaf({1});
    bool recorded = true;
    grad_accumulator(x)->add_hook(
        [&](const Tensor& of) { recorded = (of * of).requires_grad(); });
    sum(x * 2.0f).backward();
    CHECK_FALSE(recorded);
}

TEST_CASE("a leaf used twice calls its hook once per pass with the complete gradient") {
    const Tensor x = leaf({1});
    Values seen;
    grad_accumulator(x)->add_hook(
        [&](const Tensor& of) { seen.push_back(of.grad().to_vector<float>().front()); });
    sum(x * 2.0f + x * 3.0f).backward();
    CHECK(seen == Values{5});
}

TEST_CASE("gradients become ready from the last layer to the first layer") {
    const Tensor first = leaf({1});
    const Tensor second = leaf({2});
    const Tensor third = leaf({3});
    std::vector<std::string> order;
    grad_accumulator(first)->add_hook([&](const Tensor&) { order.push_back("first"); });
    grad_accumulator(second)->add_hook([&](const Tensor&) { order.push_back("second"); });
    grad_accumulator(third)->add_hook([&](const Tensor&) { order.push_back("third"); });
    sum(relu(relu(first * 1.0f) * second) * third).backward();
    CHECK(order == std::vector<std::string>{"third", "second", "first"});
}

TEST_CASE("callbacks run once after the last hook of the pass") {
    const Tensor a = leaf({1});
    const Tensor b = leaf({1});
    std::vector<std::string> order;
    grad_accumulator(b)->add_hook([&](const Tensor&) {
        queue_callback([&] { order.push_back("end"); });
        order.push_back("b");
    });
    grad_accumulator(a)->add_hook([&](const Tensor&) { order.push_back("a"); });
    sum(relu(a) * b).backward();
    CHECK(order == std::vector<std::string>{"b", "a", "end"});
    CHECK_THROWS_AS(queue_callback([] {}), Error);
}

TEST_CASE("a callback may queue another callback, which runs in the same pass") {
    const Tensor x = leaf({1});
    std::vector<std::string> order;
    grad_accumulator(x)->add_hook([&](const Tensor&) {
        queue_callback([&] {
            order.push_back("first");
            for (int i = 0; i < 20; ++i)  // so many that the list is moved in memory
                queue_callback([&] { order.push_back("later"); });
            order.push_back("end of the first");
        });
    });
    sum(x * 2.0f).backward();
    std::vector<std::string> expected{"first", "end of the first"};
    expected.resize(22, "later");
    CHECK(order == expected);
}

TEST_CASE("a hook may run another backward pass") {
    const Tensor x = leaf({2});
    const Tensor other = leaf({3});
    const Tensor inner = sum(other * other);
    grad_accumulator(x)->add_hook([&](const Tensor&) { inner.backward(); });
    sum(x * 5.0f).backward();
    CHECK(x.grad().to_vector<float>() == Values{5});
    CHECK(other.grad().to_vector<float>() == Values{6});
}

TEST_CASE("the engine is usable after an exception in a hook") {
    const Tensor x = leaf({2});
    const int hook = grad_accumulator(x)->add_hook(
        [](const Tensor&) { throw Error("from the hook"); });
    CHECK(message_of([&] { sum(x * 5.0f).backward(); }) == "from the hook");
    grad_accumulator(x)->remove_hook(hook);
    sum(x * 5.0f).backward();
    CHECK(x.grad().to_vector<float>() == Values{10});
}

TEST_CASE(
    "an operation that returns its input does not change the input's autograd state") {
    const Tensor x = leaf({1, 2});
    const Tensor y = sum(x, {}, /*keepdim=*/true);
    CHECK(x.is_leaf());
    sum(y).backward();
    CHECK(x.grad().to_vector<float>() == Values{1, 1});
}
