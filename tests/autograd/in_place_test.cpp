#include <functional>
#include <string>
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

struct InPlace {
    const char* name;
    std::function<void(Tensor&)> change;
};

const std::vector<InPlace>& functions() {
    static const std::vector<InPlace> all{
        {"add_", [](Tensor& x) { ops::add_(x, Tensor::ones(x.shape())); }},
        {"mul_", [](Tensor& x) { ops::mul_(x, 3.0f); }},
        {"fill_", [](Tensor& x) { ops::fill_(x, 3.0f); }},
        {"copy_", [](Tensor& x) { ops::copy_(x, Tensor::ones(x.shape())); }}};
    return all;
}

}  // namespace

TEST_CASE("in-place functions throw for a leaf that requires grad, and leave it alone") {
    for (const auto& [name, change] : functions()) {
        CAPTURE(name);
        Tensor leaf = Tensor::from(Values{1, 2}).set_requires_grad();
        const std::string message = message_of([&, &change = change] { change(leaf); });
        CHECK(contains(message, std::string(name) + ": the tensor of shape (2,)"));
        CHECK(contains(message, "is a leaf that requires grad"));
        CHECK(contains(message, "NoGradGuard"));
        CHECK(leaf.to_vector<float>() == Values{1, 2});
        CHECK(leaf.version() == 0);
    }
}

TEST_CASE("in-place functions throw for the result of a recorded operation") {
    for (const auto& [name, change] : functions()) {
        CAPTURE(name);
        const Tensor leaf = Tensor::from(Values{1, 2}).set_requires_grad();
        Tensor result = leaf * 2.0f;
        Tensor part = narrow(leaf, 0, 0, 1);
        CHECK(contains(message_of([&, &change = change] { change(result); }),
                       "is the result of a recorded operation"));
        CHECK(contains(message_of([&, &change = change] { change(part); }),
                       "is the result of a recorded operation"));
        CHECK(leaf.to_vector<float>() == Values{1, 2});
    }
    Tensor doubled = Tensor::ones({1}).set_requires_grad() * 2.0f;
    CHECK(contains(message_of([&] { ops::mul_(doubled, 3.0f); }), "use mini::mul"));
}

TEST_CASE("a source that requires grad throws, and its detached values do not") {
    const Tensor source = Tensor::from(Values{1, 2}).set_requires_grad();
    Tensor x = Tensor::zeros({2});
    CHECK(contains(message_of([&] { ops::copy_(x, source); }), "source.detach()"));
    CHECK(contains(message_of([&] { ops::add_(x, source * 2.0f); }), "source.detach()"));
    CHECK(x.to_vector<float>() == Values{0, 0});
    ops::copy_(x, source.detach());
    ops::add_(x, source.detach());
    CHECK(x.to_vector<float>() == Values{2, 4});
}

TEST_CASE("running values that require grad are not updated by batch_norm") {
    const Tensor x = Tensor::from(Values{1, 2, 3, 4}, {2, 2});
    const Tensor mean = Tensor::zeros({2}).set_requires_grad(), var = Tensor::ones({2});
    CHECK(contains(
        message_of([&] { batch_norm(x, mean, var, {}, {}, {.training = true}); }),
        "batch_norm: the tensor of shape (2,) is a leaf that requires grad"));
    CHECK(mean.to_vector<float>() == Values{0, 0});
    CHECK_NOTHROW(batch_norm(x, mean, var));
}

TEST_CASE("within a NoGradGuard in-place functions change tensors of the graph") {
    for (const auto& [name, change] : functions()) {
        CAPTURE(name);
        Tensor leaf = Tensor::from(Values{1, 2}).set_requires_grad();
        const NoGradGuard no_grad;
        change(leaf);
        CHECK(leaf.version() == 1);
        CHECK(leaf.requires_grad());
    }
}

TEST_CASE("in-place functions change a frozen leaf and a detached view") {
    for (const auto& [name, change] : functions()) {
        CAPTURE(name);
        Tensor leaf = Tensor::from(Values{1, 2}).set_requires_grad();
        Tensor values = leaf.detach();
        CHECK_NOTHROW(change(values));
        leaf.set_requires_grad(false);
        CHECK_NOTHROW(change(leaf));
        CHECK(leaf.version() == 2);
    }
}
