#include "libmini/optim/adam.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "tests/optim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/golden.hpp"

using namespace mini;
using mini::test::set_grad;
using mini::test::spread;

namespace {

constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

double greatest_distance(const Tensor& p, const std::vector<float>& expected) {
    double greatest = 0;
    const std::vector<float> values = p.to_vector<float>();
    for (size_t i = 0; i < expected.size(); ++i)
        greatest = std::max(greatest, std::abs(double{values[i]} - expected[i]));
    return greatest;
}

// Returns the optimizer of a case of adam.json, with `p` as its parameter.
std::unique_ptr<optim::Optimizer> optimizer_of(const nlohmann::json& c, const Tensor& p) {
    const auto& given = c.at("options");
    const bool adamw = c.at("kind") == "AdamW";
    const std::array<double, 2> betas =
        given.value("betas", std::array<double, 2>{0.9, 0.999});
    if (adamw)
        return std::make_unique<optim::AdamW>(
            std::vector{p},
            optim::AdamWOptions{.lr = given.value("lr", 1e-3),
                                .betas = betas,
                                .eps = given.value("eps", 1e-8),
                                .weight_decay = given.value("weight_decay", 1e-2)});
    return std::make_unique<optim::Adam>(
        std::vector{p},
        optim::AdamOptions{.lr = given.value("lr", 1e-3),
                           .betas = betas,
                           .eps = given.value("eps", 1e-8),
                           .weight_decay = given.value("weight_decay", 0.0)});
}

}  // namespace

TEST_CASE("the steps of Adam and AdamW are bitwise identical to PyTorch's") {
    const nlohmann::json cases = golden_cases("adam");
    CHECK(cases.size() == 7);
    for (const auto& expected : cases) {
        CAPTURE(expected.at("kind").dump(), expected.at("options").dump());
        const auto& steps = expected.at("parameters");
        Tensor p = spread(static_cast<int64_t>(steps.at(0).size()));
        const auto optimizer = optimizer_of(expected, p);
        for (size_t t = 0; t < steps.size(); ++t) {
            CAPTURE(t);
            set_grad(p, static_cast<int64_t>(t));
            optimizer->step();
            CHECK(p.to_vector<float>() == floats_from_hex(steps[t]));
        }
        // PyTorch with MKL: a square root has an error of at most one ulp, which changes
        // a step by at most 2^-23 of its size.
        CHECK(greatest_distance(p, floats_from_hex(expected.at("mkl"))) < 0x1p-22);
        for (const char* name : {"exp_avg", "exp_avg_sq"}) {
            const auto state = optimizer->state_dict();
            CAPTURE(name);
            const std::string key = std::string("state.0.") + name;
            REQUIRE(state.tensors.contains(key) == expected.contains(name));
            if (expected.contains(name))
                CHECK(state.tensors.at(key).to_vector<float>() ==
                      floats_from_hex(expected.at(name)));
        }
    }
}

TEST_CASE("Adam counts the steps of each parameter separately") {
    Tensor early = spread(3), late = spread(3), alone = spread(3);
    optim::Adam both({early, late});
    for (int t = 0; t < 3; ++t) {
        set_grad(early, t);
        both.step();
    }
    CHECK(late.to_vector<float>() == alone.to_vector<float>());

    optim::Adam one({alone});
    set_grad(late, 0);
    set_grad(alone, 0);
    both.step();
    one.step();
    CHECK(late.to_vector<float>() == alone.to_vector<float>());
}

TEST_CASE("Adam rejects invalid options") {
    const Tensor p = spread(1);
    const auto adam = [&](optim::AdamOptions options) { optim::Adam({p}, options); };
    CHECK_THROWS_AS(adam({.lr = -0.1}), UsageError);
    CHECK_THROWS_AS(adam({.lr = kNaN}), UsageError);
    CHECK_THROWS_AS(adam({.betas = {-0.1, 0.9}}), UsageError);
    CHECK_THROWS_AS(adam({.betas = {1.0, 0.9}}), UsageError);
    CHECK_THROWS_AS(adam({.betas = {0.9, 1.0}}), UsageError);
    CHECK_THROWS_AS(adam({.betas = {0.9, kNaN}}), UsageError);
    CHECK_THROWS_AS(adam({.eps = -1e-8}), UsageError);
    CHECK_THROWS_AS(adam({.weight_decay = -1}), UsageError);
    CHECK_THROWS_AS(optim::AdamW({p}, {.weight_decay = -1}), UsageError);
    CHECK_THROWS_AS(optim::Adam({}), UsageError);
    adam({.lr = 0, .betas = {0, 0}, .eps = 0});
}

TEST_CASE("a step of Adam is an in-place change of its parameters") {
    Tensor p = spread(2);
    optim::Adam optimizer({p});
    const uint64_t before = p.version();
    optimizer.step();
    CHECK(p.version() == before);
    set_grad(p, 0);
    optimizer.step();
    CHECK(p.version() > before);
}
