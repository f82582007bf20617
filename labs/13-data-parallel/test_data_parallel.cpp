// The checks of lab 13, tasks 13.5 and 13.6: replicate, and the whole DataParallel.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <memory>
#include <vector>

#include "labs/13-data-parallel/test_support.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/data_parallel.hpp"
#include "libmini/random/random.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using namespace mini::lab13;

namespace {

constexpr Device kHome = Device{Device::Type::kCPU, 0};
constexpr Device kAway = Device{Device::Type::kCPU, 1};

// A module and one copy of it, which replicate() connects.
struct Pair {
    Weighted original, copy;
    SharedStats stats = new_stats();

    Pair() {
        const NoGradGuard no_grad;
        ops::fill_(copy.w, -1);
    }
    void connect() { parallel::replicate(original, copy, kHome, kAway, stats); }
};

// Two layers, 32 parameters of 4 bytes.
class TwoLayers : public nn::Module {
  public:
    TwoLayers() {
        register_module("fc1", fc1_);
        register_module("fc2", fc2_);
    }
    Tensor forward(const Tensor& x) override { return fc2_(relu(fc1_(x))); }

  private:
    nn::Linear fc1_{3, 5}, fc2_{5, 2};
};

Tensor drawn(const Shape& shape, uint64_t seed) {
    Generator generator(seed);
    Values values(static_cast<size_t>(element_count(shape)));
    fill_uniform(values, -1.0, 1.0, generator);
    return Tensor::from(values, shape);
}

// Returns the largest difference of two lists; infinite if their sizes differ.
double difference(const Values& a, const Values& b) {
    if (a.size() != b.size()) return INFINITY;
    double largest = 0;
    for (size_t i = 0; i < a.size(); ++i) {
        const double distance = std::abs(static_cast<double>(a[i]) - b[i]);
        if (std::isnan(distance)) return INFINITY;
        largest = std::max(largest, distance);
    }
    return largest;
}

Values gradients_of(const nn::Module& module) {
    Values all;
    for (const Tensor& parameter : module.parameters()) {
        if (!parameter.grad().defined()) continue;
        const Values values = values_of(parameter.grad());
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

Values parameters_of(const nn::Module& module) {
    Values all;
    for (const Tensor& parameter : module.parameters()) {
        const Values values = values_of(parameter);
        all.insert(all.end(), values.begin(), values.end());
    }
    return all;
}

template <typename M>
parallel::DataParallel over(M& module, int count) {
    return {
        module, [] { return std::make_unique<M>(); }, {.device_ids = devices_of(count)}};
}

// Returns the parameters after four steps of SGD: of DataParallel on `devices` devices,
// or of the module alone if `devices` is 0.
Values trained(int devices, int64_t rows) {
    manual_seed(7);
    TwoLayers module;
    auto net = over(module, std::max(devices, 1));
    optim::SGD sgd(module.parameters(), {.lr = 0.1});
    for (uint64_t step = 0; step < 4; ++step) {
        sgd.zero_grad();
        const Tensor x = drawn({rows, 3}, step);
        const Tensor y = devices == 0 ? module(x) : net(x);
        mse_loss(y, drawn(y.shape(), 100 + step)).backward();
        sgd.step();
    }
    return parameters_of(module);
}

}  // namespace

// ---- 13.5

TEST_CASE("replicate copies parameters and buffers, each time", "[lab13][lab13.5]") {
    Pair pair;
    for (const float value : {7.0f, 8.0f}) {
        {
            const NoGradGuard no_grad;
            ops::fill_(pair.original.w, value);
            ops::fill_(pair.original.frozen, value + 1);
            ops::fill_(pair.original.seen, value + 2);
            ops::increment_(pair.original.batches);
        }
        pair.connect();
        INFO("parameters and buffers of the module are now " << value << ", " << value + 1
                                                             << ", " << value + 2);
        CHECK(values_of(pair.copy.w) == Values{value, value});
        CHECK(values_of(pair.copy.frozen) == Values{value + 1});
        INFO("buffers are part of the state, also integers");
        CHECK(values_of(pair.copy.seen) == Values{value + 2});
        CHECK(pair.copy.batches.item() == pair.original.batches.item());
    }
    INFO("the copy has storage of its own: a forward pass on it leaves the module alone");
    pair.copy(counting({1, 2}, 1));
    CHECK(values_of(pair.original.seen) == Values{10});
}

TEST_CASE("replicate copies the mode of each submodule", "[lab13][lab13.5]") {
    TwoLayers original, copy;
    const auto modes = [](TwoLayers& module) {
        std::vector<bool> training;
        for (const nn::Module* each : module.modules())
            training.push_back(each->is_training());
        return training;
    };
    INFO("the module, fc1 and fc2: only fc2 is in evaluation mode, then all are trained");
    original.modules().back()->set_training(false);
    parallel::replicate(original, copy, kHome, kAway, new_stats());
    CHECK(modes(copy) == std::vector<bool>{true, true, false});
    original.modules().back()->set_training(true);
    parallel::replicate(original, copy, kHome, kAway, new_stats());
    CHECK(modes(copy) == std::vector<bool>{true, true, true});
}

TEST_CASE("a gradient of the copy arrives at the module", "[lab13][lab13.5]") {
    Pair pair;
    for (int pass = 0; pass < 2; ++pass) {
        pair.original.zero_grad();
        pair.connect();
        sum(pair.copy(Tensor::from<float>({1, 10}, {1, 2}))).backward();
        INFO(
            "y = x w with x = (1, 10), computed by the copy: dL/dw = (1, 10) belongs to "
            "the module; pass "
            << pass << "; hint 1 of 13.5");
        REQUIRE(pair.original.w.grad().defined());
        CHECK(values_of(pair.original.w.grad()) == Values{1, 10});
        INFO("the copy's parameter is a result now, and keeps no gradient");
        CHECK_FALSE(pair.copy.w.grad().defined());
    }
}

TEST_CASE("a gradient changes its device on the way home", "[lab13][lab13.5]") {
    Pair pair;
    pair.connect();
    REQUIRE(pair.copy.w.requires_grad());
    pair.copy.w.backward({.gradient = counting({2, 1}, 5, kAway)});
    REQUIRE(pair.original.w.grad().defined());
    INFO("a gradient (5, 6) on " << kAway << " is sent back from the copy of w");
    CHECK(values_of(pair.original.w.grad()) == Values{5, 6});
    CHECK(pair.original.w.grad().device() == kHome);
}

TEST_CASE("gradients of the module and of its copies are summed", "[lab13][lab13.5]") {
    Weighted original, one, two;
    const auto stats = new_stats();
    parallel::replicate(original, one, kHome, Device::cpu(1), stats);
    parallel::replicate(original, two, kHome, Device::cpu(2), stats);
    const Tensor loss = sum(original(counting({1, 2}, 1))) +
                        sum(one(counting({1, 2}, 10))) + sum(two(counting({1, 2}, 100)));
    loss.backward();
    INFO("the module saw (1, 2), its copies (10, 11) and (100, 101)");
    REQUIRE(original.w.grad().defined());
    CHECK(values_of(original.w.grad()) == Values{111, 114});
}

TEST_CASE("frozen parameters and passes without grad are not recorded",
          "[lab13][lab13.5]") {
    Pair pair;
    pair.connect();
    INFO("the frozen parameter needs no gradient in the copy either, w does");
    CHECK_FALSE(pair.copy.frozen.requires_grad());
    CHECK(pair.copy.w.requires_grad());

    INFO("w is frozen between two passes: nothing of the earlier pass remains");
    pair.original.w.set_requires_grad(false);
    pair.connect();
    CHECK_FALSE(pair.copy.w.requires_grad());

    pair.original.w.set_requires_grad(true);
    const NoGradGuard no_grad;
    pair.connect();
    INFO("with a NoGradGuard the copy has the values and no graph");
    CHECK_FALSE(pair.copy.w.requires_grad());
    CHECK(values_of(pair.copy.w) == Values{2, 3});
}

TEST_CASE("the graph of an earlier pass keeps the values of that pass",
          "[lab13][lab13.5]") {
    Pair pair;
    pair.connect();
    Tensor x = counting({1, 2}, 1);
    x.set_requires_grad();
    const Tensor first = sum(pair.copy(x));
    {
        const NoGradGuard no_grad;
        ops::fill_(pair.original.w, 7);
    }
    pair.connect();
    const Tensor second = sum(pair.copy(counting({1, 2}, 10)));
    INFO("two forward passes before one backward pass: each replicate makes new tensors");
    (first + second).backward();
    CHECK(values_of(x.grad()) == Values{2, 3});
    CHECK(values_of(pair.original.w.grad()) == Values{11, 13});
}

TEST_CASE("replicate counts what goes out and what comes back", "[lab13][lab13.5]") {
    Pair pair;
    pair.connect();
    INFO("w has 8 bytes, frozen 4, the buffers 4 and 8");
    CHECK(pair.stats->bytes_replicated == 24);
    CHECK(pair.stats->bytes_reduced == 0);
    sum(pair.copy(counting({3, 2}))).backward();
    INFO("of these only w, 8 bytes, has a gradient");
    CHECK(pair.stats->bytes_replicated == 24);
    CHECK(pair.stats->bytes_reduced == 8);
    CHECK(pair.stats->total() == 32);
}

// ---- 13.6

TEST_CASE("output and gradients are those of the module alone", "[lab13][lab13.6]") {
    const int devices = GENERATE(1, 2, 3, 4, 7);
    const int64_t rows = GENERATE(1, 2, 5, 8, 13);
    manual_seed(3);
    TwoLayers alone, module;
    module.load_state_dict(alone.state_dict());
    auto net = over(module, devices);
    Tensor x = drawn({rows, 3}, 1), same_x = ops::clone(x);
    x.set_requires_grad();
    same_x.set_requires_grad();
    const Tensor y = net(x), expected = alone(same_x);
    INFO(rows << " rows on " << devices << " devices; hint 1 of 13.6");
    REQUIRE(y.shape() == expected.shape());
    CHECK(y.device() == kHome);
    CHECK(difference(values_of(y), values_of(expected)) < 1e-6);

    const Tensor target = drawn(y.shape(), 2);
    mse_loss(y, target).backward();
    mse_loss(expected, target).backward();
    INFO("the loss is the mean over all rows, so uneven chunks change nothing");
    CHECK(difference(gradients_of(module), gradients_of(alone)) < 1e-6);
    REQUIRE(x.grad().defined());
    CHECK(difference(values_of(x.grad()), values_of(same_x.grad())) < 1e-6);
}

TEST_CASE("four steps of SGD end where the module alone ends", "[lab13][lab13.6]") {
    const int devices = GENERATE(2, 3, 4, 7);
    const int64_t rows = GENERATE(1, 6, 11);
    INFO(rows << " rows on " << devices << " devices: a copy must have the parameters "
              << "of this step, not of the first one");
    CHECK(difference(trained(devices, rows), trained(0, rows)) < 1e-6);
}

TEST_CASE("a step moves the bytes of the copies and of the rows away from device 0",
          "[lab13][lab13.6]") {
    const int64_t count = GENERATE(2, 3, 4, 7);
    const int64_t rows = GENERATE(1, 6, 10);
    TwoLayers module;
    auto net = over(module, static_cast<int>(count));
    sum(net(drawn({rows, 3}, 1))).backward();
    const int64_t own = (rows + count - 1) / count;  // rows of device 0
    const int64_t away = rows - own, copies = (rows + own - 1) / own - 1;
    INFO(rows << " rows of 12 bytes and a module of 128 bytes on " << count
              << " devices; an output has 8 bytes a row; a device without a chunk "
                 "receives no copy of the module");
    CHECK(net.stats().bytes_replicated == copies * 128);
    CHECK(net.stats().bytes_scattered == away * (12 + 8));
    CHECK(net.stats().bytes_gathered == away * 8);
    CHECK(net.stats().bytes_reduced == copies * 128);
}

TEST_CASE("only the module itself keeps its buffers", "[lab13][lab13.6]") {
    Weighted module;
    auto net = over(module, 3);
    const Tensor x = Tensor::from<float>({1, 0, 10, 0, 100, 0}, {3, 2});
    net(x);
    INFO(
        "each of the three rows adds its first number to the buffer of the module that "
        "computes it: 1 in the module, 10 and 100 in copies");
    CHECK(module.seen.item() == 1);
    net(x);
    CHECK(module.seen.item() == 2);
    CHECK(module.batches.item() == 2);
}

TEST_CASE("the modules' error says which replica failed", "[lab13][lab13.6]") {
    TwoLayers module;
    auto net = over(module, 2);
    const auto told = test::message_of<ShapeError>([&] { net(drawn({4, 9}, 1)); });
    INFO("the batch has 9 columns instead of 3, and the error is: " << told);
    CHECK(told.rfind("Caught ShapeError in replica 0 on device cpu. ", 0) == 0);
    INFO("after an error the next batch succeeds");
    CHECK(net(drawn({4, 3}, 1)).shape() == Shape{4, 2});
}
