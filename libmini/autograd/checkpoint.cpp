#include "libmini/autograd/checkpoint.hpp"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "libmini/autograd/low_precision.hpp"
#include "libmini/autograd/node.hpp"
#include "libmini/random/random.hpp"

// [lab22 file]
namespace mini {
namespace {

// Restores the generator's state when it is destroyed, also by an exception.
struct SavedGenerator {
    std::vector<uint8_t> state = default_generator().get_state();
    ~SavedGenerator() { default_generator().set_state(state); }
};

// What one call of checkpoint() keeps for the backward pass.
struct Segment {
    // Returns the backward function of operation i, and keeps it no longer.
    Backward take(size_t i) {
        // [lab22.1] Call the function again if it is due; give a backward function away.
        if (i >= saved.size() || !saved[i]) recompute();
        return std::exchange(saved[i], nullptr);
        // [lab22.1]
    }

    void recompute() {
        // [lab22.1] Call the function again as the first time, and keep what it saves.
        std::vector<Backward> found;
        const PackHookGuard guard([&](Backward backward) -> Backward {
            found.push_back(std::move(backward));
            return nullptr;  // nothing uses this graph
        });
        const GradModeGuard enabled(true);
        const AutocastGuard same_dtype(autocast);
        const Tensor x = input.get().detach().set_requires_grad(requires_grad);
        const Shape again = call_again(x).shape();
        MINI_CHECK(found.size() == operations && again == shape,
                   "checkpoint: the function recorded ", operations,
                   " operations with a result of shape ", shape, " at first, and ",
                   found.size(), " with ", again, " in the backward pass");
        saved = std::move(found);
        // [lab22.1]
    }

    Tensor call_again(const Tensor& x) {
        if (random_state.empty()) return function(x);
        // [lab22.2] Draw the first call's random numbers; leave the generator as it was.
        const SavedGenerator later;
        default_generator().set_state(random_state);
        return function(x);
        // [lab22.2]
    }

    std::function<Tensor(const Tensor&)> function;
    SavedTensor input;
    bool requires_grad;  // of the input
    DType autocast = AutocastGuard::dtype();
    std::vector<uint8_t> random_state = {};  // before the first call; empty: it drew none
    size_t operations = 0;                   // of the first call
    Shape shape = {};                        // of its result
    std::vector<Backward> saved = {};        // by the second call, as far as not taken
};

}  // namespace

Tensor checkpoint(std::function<Tensor(const Tensor&)> function, const Tensor& input) {
    if (!is_grad_enabled()) return function(input);
    const std::shared_ptr<Segment> segment(
        new Segment{std::move(function), SavedTensor(input), input.requires_grad()});
    const std::vector<uint8_t> before = default_generator().get_state();
    Tensor result;
    // [lab22.1] Call the function; the graph keeps the segment, not what operations save.
    const PackHookGuard guard([&](const Backward&) -> Backward {
        return [segment, i = segment->operations++](const Tensor& g, const Node& node) {
            return segment->take(i)(g, node);
        };
    });
    result = segment->function(input);
    segment->shape = result.shape();
    // [lab22.1]
    if (default_generator().get_state() != before) segment->random_state = before;
    return result;
}

}  // namespace mini
// [lab22 file]
