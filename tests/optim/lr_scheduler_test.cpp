#include "libmini/optim/lr_scheduler.hpp"

#include <cmath>
#include <memory>
#include <vector>

#include "libmini/optim/sgd.hpp"
#include "tests/optim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/golden.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using mini::test::contains;
using mini::test::message_of;
using mini::test::spread;
using optim::LRScheduler;
using Schedulers = std::vector<std::shared_ptr<LRScheduler>>;

namespace {

struct Training {
    optim::SGD optimizer{{spread(1)}, {.lr = 0.1}};
    Schedulers schedulers;
};

std::shared_ptr<LRScheduler> linear(optim::Optimizer& optimizer,
                                    const nlohmann::json& given) {
    return std::make_shared<optim::LinearLR>(
        optimizer,
        optim::LinearLROptions{.start_factor = given.value("start_factor", 1.0 / 3),
                               .end_factor = given.value("end_factor", 1.0),
                               .total_iters = given.value("total_iters", 5)});
}

// Returns the schedulers of a case of lr_scheduler.json.
Schedulers schedulers_of(const nlohmann::json& c, optim::Optimizer& optimizer) {
    const std::string kind = c.at("kind");
    const nlohmann::json given = c.value("options", nlohmann::json::object());
    if (kind == "StepLR")
        return {std::make_shared<optim::StepLR>(optimizer, given.at("step_size"),
                                                given.value("gamma", 0.1))};
    if (kind == "CosineAnnealingLR")
        return {std::make_shared<optim::CosineAnnealingLR>(optimizer, given.at("T_max"),
                                                           given.value("eta_min", 0.0))};
    if (kind == "LinearLR") return {linear(optimizer, given)};
    Schedulers both = {linear(optimizer, {{"start_factor", 0.25}, {"total_iters", 4}})};
    both.push_back(std::make_shared<optim::StepLR>(optimizer, 3, 0.5));
    return both;
}

}  // namespace

TEST_CASE("schedulers set PyTorch's rates alone and together") {
    const nlohmann::json cases = golden_cases("lr_scheduler");
    CHECK(cases.size() == 9);
    for (const auto& expected : cases) {
        CAPTURE(expected.at("kind").dump(),
                expected.value("options", nlohmann::json()).dump());
        Training training;
        training.schedulers = schedulers_of(expected, training.optimizer);
        const std::vector<double> rates = expected.at("rates");
        for (size_t epoch = 0; epoch < rates.size(); ++epoch) {
            CAPTURE(epoch);
            // The rates are exact except for the cosine, which C libraries may round
            // differently.
            const double error = std::abs(training.optimizer.lr() - rates[epoch]);
            CHECK(error <= 1e-14 * 0.1);
            CHECK(training.schedulers.front()->last_epoch() ==
                  static_cast<int64_t>(epoch));
            CHECK(training.schedulers.back()->get_last_lr() == training.optimizer.lr());
            for (const auto& scheduler : training.schedulers) scheduler->step();
        }
    }
}

TEST_CASE("a scheduler that loads a state continues as if there was no interruption") {
    for (const auto& c : golden_cases("lr_scheduler")) {
        if (c.at("kind") == "together") continue;
        CAPTURE(c.at("kind").dump());
        for (int stop = 0; stop < 13; ++stop) {
            Training straight, resumed;
            const auto first = schedulers_of(c, straight.optimizer).front();
            for (int epoch = 0; epoch < stop; ++epoch) first->step();

            const auto second = schedulers_of(c, resumed.optimizer).front();
            second->load_state_dict(first->state_dict());
            resumed.optimizer.load_state_dict(straight.optimizer.state_dict());
            for (int epoch = 0; epoch < 13; ++epoch) {
                CHECK(second->last_epoch() == first->last_epoch());
                CHECK(second->get_last_lr() == first->get_last_lr());
                CHECK(resumed.optimizer.lr() == straight.optimizer.lr());
                first->step();
                second->step();
            }
        }
    }
}

TEST_CASE("a scheduler rejects a state with a missing or wrong number, unchanged") {
    Training training;
    optim::StepLR scheduler(training.optimizer, 2);
    auto state = scheduler.state_dict();
    state["last_epoch"] = 9;
    state.erase("last_lr");
    CHECK(contains(message_of<UsageError>([&] { scheduler.load_state_dict(state); }),
                   "no last_lr"));
    state = scheduler.state_dict();
    for (const double epoch : {-1.0, 0.5, 1e300, std::nan("")}) {
        state["last_epoch"] = epoch;
        CHECK_THROWS_AS(scheduler.load_state_dict(state), UsageError);
    }
    CHECK(scheduler.last_epoch() == 0);
}

TEST_CASE("schedulers reject invalid arguments") {
    Training t;
    CHECK_THROWS_AS(optim::StepLR(t.optimizer, 0), UsageError);
    CHECK_THROWS_AS(optim::CosineAnnealingLR(t.optimizer, 0), UsageError);
    CHECK_THROWS_AS(optim::LinearLR(t.optimizer, {.start_factor = 0}), UsageError);
    CHECK_THROWS_AS(optim::LinearLR(t.optimizer, {.start_factor = 1.5}), UsageError);
    CHECK_THROWS_AS(optim::LinearLR(t.optimizer, {.end_factor = -1}), UsageError);
    CHECK_THROWS_AS(optim::LinearLR(t.optimizer, {.total_iters = 0}), UsageError);
    CHECK(t.optimizer.lr() == 0.1);
}
