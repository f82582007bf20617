// The checks of lab 04, tasks 04.1 and 04.2: names and states. Each task's cases need
// that task and the tasks before it.

#include <algorithm>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "labs/check/values.hpp"
#include "libmini/nn/module.hpp"
#include "tests/support/catch.hpp"
#include "tests/support/contains.hpp"
#include "tests/support/message_of.hpp"

using namespace mini;
using labs::Values;
using test::contains, test::message_of;

namespace {

using Names = std::vector<std::string>;

// A module with a parameter w, a buffer count, and the submodules that are added.
class Part : public nn::Module {
  public:
    explicit Part(float value)
        : w(register_parameter("w", Tensor::from(Values{value, value}))),
          count(register_buffer("count", Tensor::from(std::vector<int64_t>{7}))) {}
    void add(const std::string& name, nn::Module& module) {
        register_module(name, module);
    }
    void share(const std::string& name, const Tensor& parameter) {
        register_parameter(name, parameter);
    }
    Tensor forward(const Tensor& x) override { return x; }

    Tensor w, count;
};

// A module that is never in training mode.
class Frozen : public Part {
  public:
    using Part::Part;
    void train(bool) override { Part::train(false); }
};

// root(w, count)
//   left(w, count)
//     deep(w, count)
//   right(w, count, tied: deep's w)
struct Tree {
    Tree() {
        left.add("deep", deep);
        right.share("tied", deep.w);
        root.add("left", left);
        root.add("right", right);
    }
    Part root{1}, left{2}, deep{3}, right{4};
};

Names names_of(const nn::NamedTensors& tensors) {
    Names names;
    for (const auto& [name, tensor] : tensors) names.push_back(name);
    return names;
}

std::string list(const Names& names) {
    std::string all;
    for (const std::string& name : names) all += " " + name;
    return all;
}

constexpr const char* kTree =
    "root has w and count, and the submodules left and right; left has w, count and the "
    "submodule deep, which has w and count; right has w, count and tied, which is deep's "
    "w";

void check_names(const Names& got, const Names& expected, const std::string& hint) {
    INFO(kTree);
    INFO("expected:" << list(expected));
    INFO("yours:   " << list(got) << "; " << hint);
    CHECK(got == expected);
}

}  // namespace

// ---- 04.1

TEST_CASE("parameters have full names, each module's own before its submodules'",
          "[lab04][lab04.1]") {
    const Tree tree;
    check_names(names_of(tree.root.named_parameters()),
                {"w", "left.w", "left.deep.w", "right.w"}, "hint 1 of 04.1 helps");
}

TEST_CASE("a parameter with two names is returned once, under its first name",
          "[lab04][lab04.1]") {
    const Tree tree;
    const nn::NamedTensors named = tree.root.named_parameters();
    INFO(
        "deep's w is also right.tied. The optimizer would step twice on a parameter "
        "that is listed twice; hint 2 of 04.1 helps");
    CHECK(std::ranges::count(names_of(named), "right.tied") == 0);
    CHECK(std::ranges::count(names_of(named), "left.deep.w") == 1);
    INFO("two different parameters with equal values are both returned");
    Part one(5), other(5);
    one.add("other", other);
    CHECK(names_of(one.named_parameters()) == Names{"w", "other.w"});
}

TEST_CASE("parameters() returns the tensors themselves, not copies", "[lab04][lab04.1]") {
    Tree tree;
    std::vector<Tensor> parameters = tree.root.parameters();
    REQUIRE(parameters.size() == 4);
    parameters[2].span<float>()[0] = 30;
    INFO("the third parameter is left.deep.w; a new value is visible in the module");
    CHECK(tree.deep.w.to_vector<float>() == Values{30, 3});
}

TEST_CASE("buffers are listed like parameters", "[lab04][lab04.1]") {
    Tree tree;
    tree.right.add("again", tree.deep);
    check_names(names_of(tree.root.named_buffers()),
                {"count", "left.count", "left.deep.count", "right.count"},
                "deep is also right.again; hint 1 of 04.1 helps");
}

TEST_CASE("modules() returns every module once, parents first", "[lab04][lab04.1]") {
    Tree tree;
    tree.right.add("again", tree.deep);
    INFO(kTree << "; deep is also right.again");
    const std::vector<nn::Module*> expected = {&tree.root, &tree.left, &tree.deep,
                                               &tree.right};
    const std::vector<nn::Module*> got = tree.root.modules();
    INFO("expected 4 modules: root, left, deep, right; yours " << got.size());
    CHECK(got == expected);
}

TEST_CASE("train and eval set the mode of the whole tree", "[lab04][lab04.1]") {
    Tree tree;
    const std::vector<std::pair<std::string, nn::Module*>> all = {
        {"root", &tree.root},
        {"left", &tree.left},
        {"left.deep", &tree.deep},
        {"right", &tree.right}};
    tree.root.eval();
    for (const auto& [name, module] : all) {
        INFO("after root.eval(), " << name << " must be in evaluation mode");
        CHECK(!module->is_training());
    }
    tree.left.train();
    INFO("after left.train(), left and deep are in training mode, root and right not");
    CHECK(!tree.root.is_training());
    CHECK(tree.left.is_training());
    CHECK(tree.deep.is_training());
    CHECK(!tree.right.is_training());
    Frozen frozen(5);
    tree.left.add("frozen", frozen);
    tree.root.train();
    INFO("a submodule that overrides train() decides for itself");
    CHECK(!frozen.is_training());
    CHECK(tree.deep.is_training());
}

// ---- 04.2

TEST_CASE("a state lists parameters and buffers of each module, then its submodules",
          "[lab04][lab04.2]") {
    const Tree tree;
    check_names(names_of(tree.root.state_dict()),
                {"w", "count", "left.w", "left.count", "left.deep.w", "left.deep.count",
                 "right.w", "right.tied", "right.count"},
                "a tensor with two names is listed under both; hint 1 of 04.2 helps");
    const Tensor w = tree.root.state_dict().front().second;
    INFO("the state's tensors share storage with the module's, and are detached");
    CHECK(w.shares_storage(tree.root.w));
    CHECK_FALSE(w.requires_grad());
}

TEST_CASE("a state that was loaded has the values, and the module its own tensors",
          "[lab04][lab04.2]") {
    Tree from, to;
    from.deep.w.span<float>()[1] = 8;
    from.right.count.span<int64_t>()[0] = 9;
    to.root.load_state_dict(from.root.state_dict());
    INFO("left.deep.w is 3 8 and right.count 9 in the state");
    CHECK(to.deep.w.to_vector<float>() == Values{3, 8});
    CHECK(to.right.count.to_vector<int64_t>() == std::vector<int64_t>{9});
    from.root.w.span<float>()[0] = 100;
    INFO(
        "after load_state_dict a change of one module must not reach the other: the "
        "values are copied, not the handles; hint 2 of 04.2 helps");
    CHECK(to.root.w.to_vector<float>() == Values{1, 1});
}

TEST_CASE("the order of the state's tensors does not matter", "[lab04][lab04.2]") {
    Part from(1), to(3), from_deep(2), to_deep(4);
    from.add("deep", from_deep);
    to.add("deep", to_deep);
    nn::NamedTensors state = from.state_dict();
    std::ranges::reverse(state);
    to.load_state_dict(state);
    INFO("the state was given as deep.count, deep.w, count, w; w is 1 1 and deep.w 2 2");
    CHECK(to.w.to_vector<float>() == Values{1, 1});
    CHECK(to_deep.w.to_vector<float>() == Values{2, 2});
}

TEST_CASE("a state that does not fit changes no tensor and lists every difference",
          "[lab04][lab04.2]") {
    Tree tree;
    nn::NamedTensors state;
    state.emplace_back("w", Tensor::from(Values{5, 5}));
    state.emplace_back("count", Tensor::from(std::vector<int64_t>{1}));
    state.emplace_back("left.w", Tensor::from(Values{5, 5, 5}));
    state.emplace_back("left.count", Tensor::from(Values{5}));
    state.emplace_back("left.deep.w", Tensor::from(Values{5, 5}));
    state.emplace_back("right.w", Tensor::from(Values{5, 5}));
    state.emplace_back("right.tied", Tensor::from(Values{5, 5}));
    state.emplace_back("right.count", Tensor::from(std::vector<int64_t>{1}));
    state.emplace_back("right.extra", Tensor::from(Values{5}));
    const std::string message = message_of([&] { tree.root.load_state_dict(state); });
    INFO("the message was: " << message);
    INFO("the page has the form of each line, at 04.2");
    CHECK(contains(message, "\n  missing: left.deep.count (1,)"));
    CHECK(contains(message,
                   "\n  left.w: the module has float32 (2,), the state float32 "
                   "(3,)"));
    CHECK(contains(message,
                   "\n  left.count: the module has int64 (1,), the state float32 "
                   "(1,)"));
    CHECK(contains(message, "\n  unexpected: right.extra (1,)"));
    CHECK(std::ranges::count(message, '\n') == 4);
    INFO("w fitted, but no tensor may change if another does not fit");
    CHECK(tree.root.w.to_vector<float>() == Values{1, 1});
}
