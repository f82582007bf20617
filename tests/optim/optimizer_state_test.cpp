#include "libmini/optim/optimizer_state.hpp"

#include <bit>
#include <functional>
#include <limits>
#include <memory>

#include "libmini/optim/adam.hpp"
#include "libmini/optim/sgd.hpp"
#include "libmini/tensor/ops.hpp"
#include "tests/optim/support.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/folder.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using mini::test::contains;
using mini::test::message_of;
using mini::test::set_grad;
using mini::test::spread;
using mini::test::take_steps;
using optim::OptimizerState;
using Tensors = std::vector<Tensor>;

namespace {

struct Kind {
    const char* name;
    std::function<std::unique_ptr<optim::Optimizer>(Tensors)> make;
};

const std::vector<Kind> kKinds = {
    {"plain SGD",
     [](Tensors p) {
         return std::make_unique<optim::SGD>(p, optim::SGDOptions{.lr = 0.1});
     }},
    {"SGD with momentum",
     [](Tensors p) {
         return std::make_unique<optim::SGD>(
             p, optim::SGDOptions{.lr = 0.1, .momentum = 0.9, .nesterov = true});
     }},
    {"Adam",
     [](Tensors p) {
         return std::make_unique<optim::Adam>(p, optim::AdamOptions{.lr = 0.01});
     }},
    {"AdamW",
     [](Tensors p) {
         return std::make_unique<optim::AdamW>(
             p, optim::AdamWOptions{.lr = 0.01, .weight_decay = 0.1});
     }},
};

// Returns three parameters. take_some_steps sets the gradients of the first and the
// third.
Tensors some_parameters() { return {spread(5), spread(2), spread(17)}; }

void take_some_steps(optim::Optimizer& optimizer, int begin, int end) {
    for (int t = begin; t < end; ++t) {
        for (const size_t i : {size_t{0}, size_t{2}}) {
            Tensor p = optimizer.parameters()[i];
            set_grad(p, t);
        }
        optimizer.step();
    }
}

}  // namespace

TEST_CASE(
    "an optimizer that loads its state from a file continues as if not interrupted") {
    for (const Kind& kind : kKinds) {
        CAPTURE(kind.name);
        const Tensors straight = some_parameters();
        const auto uninterrupted = kind.make(straight);
        take_some_steps(*uninterrupted, 0, 3);
        uninterrupted->set_lr(0.1 / 3);
        take_some_steps(*uninterrupted, 3, 6);

        const Tensors before = some_parameters();
        const auto first = kind.make(before);
        take_some_steps(*first, 0, 3);
        first->set_lr(0.1 / 3);
        const test::Folder folder;
        io::Safetensors file;
        optim::write_state(first->state_dict(), "optimizer.", file);
        io::save_safetensors(folder / "f", file.tensors, file.metadata);

        Tensors after;
        for (const Tensor& p : before) after.push_back(ops::clone(p).set_requires_grad());
        const auto second = kind.make(after);
        const io::Safetensors loaded = io::load_safetensors(folder / "f");
        second->load_state_dict(optim::read_state(loaded, "optimizer."));
        CHECK(second->lr() == 0.1 / 3);
        take_some_steps(*second, 3, 6);
        for (size_t i = 0; i < straight.size(); ++i)
            CHECK(ops::equal(straight[i], after[i]));
    }
}

TEST_CASE("load_state_dict copies the tensors") {
    const Tensor p = spread(3), q = spread(3);
    optim::Adam first({p}), second({q});
    take_steps(first, 0, 2);
    second.load_state_dict(first.state_dict());
    const auto before = second.state_dict().tensors.at("state.0.exp_avg");
    const std::vector<float> numbers = before.to_vector<float>();
    take_steps(first, 2, 3);
    CHECK(before.to_vector<float>() == numbers);
}

TEST_CASE("a parameter has no state before its first step") {
    const Tensors parameters = some_parameters();
    optim::Adam optimizer(parameters);
    CHECK(optimizer.state_dict().tensors.empty());
    take_some_steps(optimizer, 0, 1);
    const OptimizerState state = optimizer.state_dict();
    CHECK(state.tensors.contains("state.0.exp_avg"));
    CHECK_FALSE(state.tensors.contains("state.1.exp_avg"));
    CHECK(state.numbers.at("state.2.step") == 1);
}

TEST_CASE("load_state_dict rejects an invalid state, names the fault, changes nothing") {
    optim::Adam optimizer({spread(5), spread(2)});
    take_steps(optimizer, 0, 2);
    const auto steps_before = optimizer.state_dict().numbers;
    const auto check = [&](const std::function<void(OptimizerState&)>& damage,
                           const std::string& fault) {
        OptimizerState state = optimizer.state_dict();
        state.numbers["lr"] = 7;
        damage(state);
        const std::string message =
            message_of<UsageError>([&] { optimizer.load_state_dict(state); });
        CHECK(message == "Adam: this state does not fit these 2 parameters: " + fault);
        CHECK(optimizer.lr() == 1e-3);
        CHECK(optimizer.state_dict().numbers == steps_before);
    };
    check([](OptimizerState& state) { state.numbers.erase("eps"); }, "eps is missing");
    check([](OptimizerState& state) { state.numbers["momentum"] = 1; },
          "momentum is unknown");
    check([](OptimizerState& state) { state.tensors["lr"] = Tensor::zeros({2}); },
          "lr is unknown");
    check([](OptimizerState& state) { state.numbers["state.0.step"] = 2.5; },
          "state.0.step is 2.5, not a count of steps");
    check([](OptimizerState& state) { state.tensors.erase("state.1.exp_avg"); },
          "state.1.exp_avg is missing");
    check(
        [](OptimizerState& state) {
            state.tensors["state.1.exp_avg_sq"] = Tensor::zeros({3});
        },
        "state.1.exp_avg_sq is (3,) of float32, but its parameter (2,) of float32");
    check(
        [](OptimizerState& state) {
            state.tensors["state.2.exp_avg"] = Tensor::zeros({3});
        },
        "state.2.exp_avg is unknown");
}

TEST_CASE("the options in a state are checked like the options of the constructor") {
    optim::SGD optimizer({spread(2)}, {.lr = 0.1});
    OptimizerState state = optimizer.state_dict();
    state.numbers["lr"] = -1;
    CHECK_THROWS_AS(optimizer.load_state_dict(state), UsageError);
    CHECK(optimizer.lr() == 0.1);
}

TEST_CASE(
    "exact_number restores a double exactly from the text that exact_text returns") {
    for (const double number :
         {0.0, -0.0, 0.1, 1.0 / 3, 1e-8, 5e-324, 1.7976931348623157e308,
          std::numeric_limits<double>::infinity(), 9007199254740991.0})
        CHECK(std::bit_cast<uint64_t>(optim::exact_number(optim::exact_text(number))) ==
              std::bit_cast<uint64_t>(number));
    CHECK(optim::exact_text(0.1) == "0.1");
    for (const char* text : {"", "0.1 ", " 0.1", "one", "1e999", "0x1p3"})
        CHECK_THROWS_AS(optim::exact_number(text), BadFile);
}

TEST_CASE("the error for an invalid number in a file contains the number's name") {
    io::Safetensors file;
    file.metadata = {{"optimizer.lr", "fast"}, {"other", "thing"}};
    CHECK(message_of<BadFile>([&] { optim::read_state(file, "optimizer."); }) ==
          "metadata optimizer.lr: \"fast\" is not a number");
}
