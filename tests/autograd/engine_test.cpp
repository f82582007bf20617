// What autograd rejects, and what threads and hooks may do. The checks of lab 03 show the
// graph, the gradients, the order of a pass, hooks and callbacks.

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

TEST_CASE("NoGradGuard affects the current thread only", "[threads]") {
    const NoGradGuard no_grad;
    bool enabled_elsewhere = false;
    std::jthread([&] { enabled_elsewhere = is_grad_enabled(); }).join();
    CHECK(enabled_elsewhere);
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
