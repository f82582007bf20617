// The checks of lab 22, tasks 22.4 and 22.5: loss scaling.

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "labs/22-memory-and-precision/grad_scaler.hpp"
#include "labs/22-memory-and-precision/test_support.hpp"
#include "labs/check/watched_group.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/optim/adam.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/parallel/ddp.hpp"

using namespace mini;
using namespace mini::lab22;

namespace {

const float kNaN = std::numeric_limits<float>::quiet_NaN();

// Two parameters, of 2 and 3 elements.
std::vector<Tensor> make_parameters() {
    return {Tensor::ones({2}).set_requires_grad(), Tensor::ones({3}).set_requires_grad()};
}

// Gives both parameters the gradient `value`, and one element the gradient `last`.
void set_gradients(const optim::Optimizer& optimizer, float value, float last) {
    std::vector<Tensor> parameters = optimizer.parameters();
    parameters[0].set_grad(Tensor::full({2}, value));
    parameters[1].set_grad(Tensor::from(Values{value, value, last}));
}

Values gradients_of(const optim::Optimizer& optimizer) {
    std::vector<Tensor> gradients;
    for (const Tensor& each : optimizer.parameters())
        if (each.grad().defined()) gradients.push_back(each.grad());
    return values_of(gradients);
}

// Returns everything that a step changes: parameters, and the optimizer's state.
Values everything(const optim::Optimizer& optimizer) {
    Values all = values_of(optimizer.parameters());
    const optim::OptimizerState state = optimizer.state_dict();
    for (const auto& [name, tensor] : state.tensors)
        for (const float value : tensor.to_vector<float>()) all.push_back(value);
    for (const auto& [name, number] : state.numbers)
        all.push_back(static_cast<float>(number));
    return all;
}

}  // namespace

// ---- 22.4

TEST_CASE("the loss is multiplied, and backward multiplies each gradient",
          "[lab22][lab22.4]") {
    const GradScaler scaler;
    CHECK(scaler.get_scale() == 65536);
    Tensor w = Tensor::from(Values{2, 3}).set_requires_grad();
    const Tensor loss = sum(w * w);
    const Tensor scaled = scaler.scale(loss);
    CHECK(scaled.item() == 13 * 65536);
    INFO("the loss itself is not changed");
    CHECK(loss.item() == 13);
    scaled.backward();
    CHECK(w.grad().to_vector<float>() == Values{4 * 65536, 6 * 65536});
}

TEST_CASE("unscale_ divides the gradients in place", "[lab22][lab22.4]") {
    optim::SGD sgd(make_parameters(), {.lr = 1});
    std::vector<Tensor> parameters = sgd.parameters();
    const Tensor buffer = Tensor::full({2}, 48);
    parameters[0].set_grad(ops::view(buffer, {2}));  // as a bucket of DDP
    GradScaler scaler({.init_scale = 3});
    scaler.unscale_(sgd);
    const float third = static_cast<float>(1.0 / 3);
    INFO("the factor is 1 / 3, in float32, and the memory is the gradient's own");
    CHECK(buffer.to_vector<float>() == Values{48 * third, 48 * third});
    CHECK(parameters[0].grad().shares_storage(buffer));
    INFO("parameter 1 has no gradient, and gets none");
    CHECK_FALSE(parameters[1].grad().defined());
    optim::SGD second(make_parameters(), {.lr = 1});
    Tensor last = second.parameters()[1];
    last.set_grad(Tensor::full({3}, 48));
    scaler.unscale_(second);
    INFO("of another optimizer, parameter 0 has no gradient, and parameter 1 has one");
    CHECK(last.grad().to_vector<float>() == Values(3, 48 * third));
    optim::SGD with_inf(make_parameters(), {.lr = 1});
    set_gradients(with_inf, 48, 48);
    std::vector<Tensor> two = with_inf.parameters();
    two[0].set_grad(Tensor::from(Values{INFINITY, 48}));
    scaler.unscale_(with_inf);
    INFO("of another one, parameter 0 has inf: parameter 1's are divided all the same");
    CHECK(two[1].grad().to_vector<float>() == Values(3, 48 * third));
    INFO("a second time the gradients would be divided twice");
    CHECK(error_of([&] { scaler.unscale_(sgd); }) != "no error");
}

TEST_CASE("a gradient that float16 would lose arrives", "[lab22][lab22.4]") {
    Tensor w = Tensor::ones({1, 1}).set_requires_grad();
    optim::SGD sgd({w}, {.lr = 1});
    GradScaler scaler;
    const Tensor y = low_precision_linear(Tensor::ones({1, 1}), w, {}, DType::kFloat16);
    scaler.scale(sum(y) * 0x1p-26f).backward();
    scaler.unscale_(sgd);
    INFO("2^-26 is below float16's least number, and 2^-26 * 65536 = 2^-10 is not");
    CHECK(w.grad().item() == 0x1p-26);
}

TEST_CASE("options out of range are an error, and the state is PyTorch's",
          "[lab22][lab22.4]") {
    const auto refuses = [](const GradScalerOptions& options) {
        return error_of([&] { GradScaler scaler(options); }) != "no error";
    };
    CHECK_FALSE(refuses({}));
    CHECK(refuses({.init_scale = 0}));
    CHECK(refuses({.init_scale = kNaN}));
    CHECK(refuses({.init_scale = INFINITY}));
    CHECK(refuses({.init_scale = 1e39}));   // as a float it is infinite
    CHECK(refuses({.init_scale = 1e-46}));  // as a float it is 0
    CHECK_FALSE(refuses({.init_scale = 0x1p127}));
    CHECK_FALSE(refuses({.init_scale = 0x1p-126}));
    CHECK(refuses({.growth_factor = 1}));
    CHECK(refuses({.growth_factor = kNaN}));
    CHECK(refuses({.backoff_factor = kNaN}));
    CHECK(refuses({.backoff_factor = 1}));
    CHECK(refuses({.backoff_factor = 0}));
    CHECK(refuses({.growth_interval = 0}));

    const GradScaler first({.init_scale = 8, .growth_factor = 4, .growth_interval = 3});
    CHECK(first.scale(Tensor::scalar(2)).item() == 16);
    const optim::OptimizerState state = first.state_dict();
    CHECK(state.tensors.empty());
    CHECK(state.numbers == std::map<std::string, double>{{"scale", 8},
                                                         {"growth_factor", 4},
                                                         {"backoff_factor", 0.5},
                                                         {"growth_interval", 3},
                                                         {"_growth_tracker", 0}});
    GradScaler second;
    second.load_state_dict(state);
    CHECK(second.state_dict().numbers == state.numbers);
    CHECK(second.get_scale() == 8);
}

TEST_CASE("a state that is refused changes nothing", "[lab22][lab22.4]") {
    GradScaler scaler({.init_scale = 8, .growth_factor = 4, .growth_interval = 3});
    const std::map<std::string, double> before = scaler.state_dict().numbers;
    const optim::OptimizerState other{.tensors = {},
                                      .numbers = {{"scale", 32},
                                                  {"growth_factor", 3},
                                                  {"backoff_factor", 0.25},
                                                  {"growth_interval", 7},
                                                  {"_growth_tracker", 2}}};
    const auto check = [&](const std::string& fault, const optim::OptimizerState& state) {
        INFO("a state of other numbers, in which " << fault);
        CHECK(error_of([&] { scaler.load_state_dict(state); }) != "no error");
        CHECK(scaler.state_dict().numbers == before);
        CHECK(scaler.get_scale() == 8);
    };
    for (const auto& [name, number] : other.numbers) {
        optim::OptimizerState state = other;
        state.numbers.erase(name);
        check(name + " is missing", state);
        if (name == "_growth_tracker") continue;
        state.numbers[name] = name == "scale" ? INFINITY : 0;
        check(name + " is out of its range", state);
    }
    optim::OptimizerState state = other;
    state.numbers["growth"] = 2;
    check("there is an unknown number", state);
    state = other;
    state.tensors["state.0.exp_avg"] = Tensor::scalar(2);
    check("there is a tensor", state);
    state = other;
    state.tensors["scale"] = Tensor::scalar(2);
    check("there is a tensor with the name of a number", state);
    scaler.load_state_dict(other);
    CHECK(scaler.state_dict().numbers == other.numbers);
}

// ---- 22.5

TEST_CASE("a step with inf or NaN in a gradient changes nothing", "[lab22][lab22.5]") {
    const float bad =
        GENERATE(INFINITY, -INFINITY, std::numeric_limits<float>::quiet_NaN());
    std::unique_ptr<optim::Optimizer> optimizer;
    if (GENERATE(true, false))
        optimizer = std::make_unique<optim::Adam>(make_parameters());
    else
        optimizer = std::make_unique<optim::SGD>(
            make_parameters(), optim::SGDOptions{.lr = 0.5, .momentum = 0.5});
    GradScaler scaler({.init_scale = 4});
    set_gradients(*optimizer, 8, 8);
    CHECK(scaler.step(*optimizer));
    INFO("the gradients 8 are divided by 4");
    CHECK(gradients_of(*optimizer) == Values(5, 2.0f));
    scaler.update();
    CHECK(scaler.get_scale() == 4);

    const Values before = everything(*optimizer);
    set_gradients(*optimizer, 8, bad);
    INFO("one of five elements is " << bad);
    CHECK_FALSE(scaler.step(*optimizer));
    {
        INFO("parameters, momentum and the count of steps must stay");
        CHECK(everything(*optimizer) == before);
        INFO(
            "a step that was skipped is a call of step(): no second one before update()");
        CHECK(error_of([&] { scaler.step(*optimizer); }) != "no error");
    }
    scaler.update();
    CHECK(scaler.get_scale() == 2);
    set_gradients(*optimizer, 8, 8);
    CHECK(scaler.step(*optimizer));
    CHECK(everything(*optimizer) != before);
}

TEST_CASE("each element counts, and only by itself", "[lab22][lab22.5]") {
    optim::SGD sgd(make_parameters(), {.lr = 1});
    std::vector<Tensor> parameters = sgd.parameters();
    GradScaler scaler({.init_scale = 4});
    set_gradients(sgd, 1, 1);
    parameters[0].set_grad(Tensor::from(Values{1, INFINITY}));
    INFO("inf in the first parameter, none in the second");
    CHECK_FALSE(scaler.step(sgd));
    scaler.update();
    for (const float large : {3e38f, -3e38f}) {
        set_gradients(sgd, large, large);
        INFO("gradients of " << large << ": each is finite, but not their sum");
        CHECK(scaler.step(sgd));
        scaler.update();
    }
    set_gradients(sgd, INFINITY, -INFINITY);
    CHECK_FALSE(scaler.step(sgd));
}

TEST_CASE("the scale grows after enough steps in a row, and falls at once",
          "[lab22][lab22.5]") {
    optim::SGD sgd(make_parameters(), {.lr = 1});
    GradScaler scaler({.init_scale = 16, .growth_factor = 4, .growth_interval = 3});
    const auto scale_after = [&](float last) {
        set_gradients(sgd, 1, last);
        scaler.step(sgd);
        scaler.update();
        return scaler.get_scale();
    };
    std::vector<double> scales;
    for (const float last :
         {1.0f, 1.0f, INFINITY, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, 1.0f, kNaN, kNaN})
        scales.push_back(scale_after(last));
    INFO(
        "growth_interval 3, factors 4 and 0.5; the third and the last two have inf or "
        "NaN. Scales after each update: "
        << concat(scales));
    CHECK(scales == std::vector<double>{16, 16, 8, 8, 8, 32, 32, 32, 128, 64, 32});

    INFO("the updates in a row are part of the state");
    scale_after(1);
    scale_after(1);
    GradScaler other;
    other.load_state_dict(scaler.state_dict());
    scaler = other;
    CHECK(scale_after(1) == 128);
}

TEST_CASE("the scale stays finite", "[lab22][lab22.5]") {
    optim::SGD sgd(make_parameters(), {.lr = 1});
    GradScaler scaler({.init_scale = 0x1p126, .growth_interval = 1});
    for (const double expected : {0x1p127, 0x1p127, 0x1p127}) {
        set_gradients(sgd, 1, 1);
        scaler.step(sgd);
        scaler.update();
        CHECK(scaler.get_scale() == expected);
    }
}

TEST_CASE("calls in another order are an error", "[lab22][lab22.5]") {
    optim::SGD sgd(make_parameters(), {.lr = 1});
    GradScaler scaler({.init_scale = 2});
    const auto unscale = [&] { scaler.unscale_(sgd); };
    const auto step = [&] { scaler.step(sgd); };
    const auto update = [&] { scaler.update(); };
    INFO("update() without a step before");
    CHECK(error_of(update) != "no error");
    set_gradients(sgd, 8, 8);
    CHECK(error_of(unscale) == "no error");
    CHECK(error_of(step) == "no error");
    INFO("step() after unscale_() divides no second time");
    CHECK(gradients_of(sgd) == Values(5, 4.0f));
    INFO("a second step() or unscale_() without update()");
    CHECK(error_of(step) != "no error");
    CHECK(error_of(unscale) != "no error");
    CHECK(error_of(update) == "no error");
    CHECK(error_of(update) != "no error");
    CHECK(error_of(step) == "no error");
}

TEST_CASE("of two optimizers only the one with inf skips", "[lab22][lab22.5]") {
    optim::SGD first(make_parameters(), {.lr = 1}), second(make_parameters(), {.lr = 1});
    GradScaler scaler({.init_scale = 2});
    set_gradients(first, 2, INFINITY);
    set_gradients(second, 2, 2);
    CHECK_FALSE(scaler.step(first));
    CHECK(scaler.step(second));
    CHECK(values_of(first.parameters()) == Values(5, 1.0f));
    CHECK(values_of(second.parameters()) == Values(5, 0.0f));
    scaler.update();
    INFO("one update for both: the scale is halved once");
    CHECK(scaler.get_scale() == 1);
    const auto step_both = [&](float last) {
        for (optim::SGD* const each : {&first, &second}) {
            set_gradients(*each, 2, last);
            scaler.step(*each);
        }
        scaler.update();
    };
    step_both(INFINITY);
    INFO("once, too, if both have inf");
    CHECK(scaler.get_scale() == 0.5);
    step_both(2);
    INFO("and an update of both without inf is one in a row");
    CHECK(scaler.state_dict().numbers.at("_growth_tracker") == 1);
}

TEST_CASE("inf on one rank skips the step on all", "[lab22][lab22.5]") {
    const int ranks = GENERATE(1, 2, 3, 4);
    for (int bad = -1; bad < ranks; ++bad) {
        const auto seen = labs::on_ranks(ranks, [bad](dist::ProcessGroup& group) {
            const auto watched = std::make_shared<labs::WatchedGroup>(group);
            optim::SGD sgd(make_parameters(), {.lr = 1});
            // The gradients of shards: the last rank has none, unless it is alone.
            if (group.rank() == 0 || group.rank() + 1 < group.world_size())
                set_gradients(sgd, 2, group.rank() == bad ? INFINITY : 2.0f);
            if (group.rank() == bad) set_gradients(sgd, 2, INFINITY);
            GradScaler scaler({.init_scale = 2, .process_group = watched});
            scaler.load_state_dict(scaler.state_dict());  // the group is no part of it
            const bool stepped = scaler.step(sgd);
            scaler.update();
            const bool one_number =
                group.world_size() == 1 ||
                (watched->lines_with("start").size() == 1 &&
                 watched->lines_with("start all_reduce").size() == 1 &&
                 watched->payloads[0].size() == 1);
            return std::tuple(stepped, scaler.get_scale(),
                              labs::in_words(watched->journal), one_number);
        });
        for (size_t rank = 0; rank < seen.size(); ++rank) {
            const auto& [stepped, scale, journal, one_number] = seen[rank];
            INFO(ranks << " ranks, inf on rank " << bad << " (-1: none); rank " << rank
                       << (stepped ? " makes the step" : " skips the step")
                       << ", has then the scale " << scale
                       << ", and called: " << journal);
            INFO("ranks that disagree end with different parameters, or wait forever");
            REQUIRE(stepped == (bad < 0));
            REQUIRE(scale == (bad < 0 ? 2 : 1));
            INFO("one all-reduce of one number for all gradients");
            REQUIRE(one_number);
        }
    }
}

TEST_CASE("with DDP the averages have the inf, without a message more",
          "[lab22][lab22.5]") {
    const int ranks = GENERATE(2, 3);
    const auto seen = labs::on_ranks(ranks, [](dist::ProcessGroup& group) {
        nn::Linear layer(2, 1);
        parallel::DistributedDataParallel ddp(layer);
        optim::SGD sgd(layer.parameters(), {.lr = 1});
        GradScaler scaler;
        std::vector<int> steps;
        // In the first step, rank 1's gradient is too large for float16.
        for (const float large : {1e4f, 1.0f}) {
            sgd.zero_grad();
            const AutocastGuard guard(DType::kFloat16);
            const Tensor x = Tensor::full({1, 2}, group.rank() == 1 ? large : 0.125f);
            scaler.scale(sum(ddp(x)) * 0.25f).backward();
            steps.push_back(scaler.step(sgd));
            scaler.update();
        }
        Values all = values_of(layer.parameters());
        all.push_back(static_cast<float>(scaler.get_scale()));
        return std::pair(steps, all);
    });
    for (const auto& [steps, all] : seen) {
        CHECK(steps == std::vector<int>{0, 1});
        CHECK(all == seen[0].second);
        CHECK(all.back() == 32768);
    }
}
