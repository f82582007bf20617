#include "libmini/parallel/used_parameters.hpp"

#include <algorithm>
#include <string>
#include <unordered_set>
#include <utility>

#include "libmini/autograd/node.hpp"
#include "libmini/core/log.hpp"
#include "libmini/tensor/ops.hpp"

namespace mini::parallel {
namespace {

// Returns all nodes that a gradient of `output` would reach. The walk starts at
//
//     no node                              if `output` needs no gradient; then
//                                          output.autograd_meta() may be null
//     grad_accumulator(output)             if `output` is a leaf, that is, a parameter
//     output.autograd_meta()->grad_fn      if `output` was computed
//
// and goes on from each node to its inputs(). An entry of inputs() is null if that input
// needs no gradient.
std::unordered_set<const Node*> reachable_nodes(const Tensor& output) {
    std::unordered_set<const Node*> seen;
    std::vector<const Node*> to_visit;
    // [lab16.6] Visit every node that a gradient of the output would reach.
    const auto visit = [&](const Node* node) {
        if (node != nullptr && seen.insert(node).second) to_visit.push_back(node);
    };
    if (output.requires_grad())
        visit(output.is_leaf() ? grad_accumulator(output).get()
                               : output.autograd_meta()->grad_fn.get());
    while (!to_visit.empty()) {
        const Node* const node = to_visit.back();
        to_visit.pop_back();
        for (const auto& input : node->inputs()) visit(input.get());
    }
    // [lab16.6]
    return seen;
}

}  // namespace

std::vector<bool> used_parameters(const Tensor& output,
                                  const nn::NamedTensors& parameters) {
    const auto reachable = reachable_nodes(output);
    std::vector<bool> used;
    for (const auto& [name, parameter] : parameters)
        used.push_back(parameter.requires_grad() &&
                       reachable.contains(grad_accumulator(parameter).get()));
    return used;
}

UsedParameters::UsedParameters(nn::NamedTensors parameters, const DDPOptions& options,
                               dist::ProcessGroup& group)
    : parameters_(std::move(parameters)),
      searches_(options.find_unused_parameters),
      is_static_(options.static_graph),
      group_(group),
      states_(parameters_.size()) {}

void UsedParameters::begin_pass(const Tensor& output) {
    for (State& state : states_) {
        state.counted = 0;
        state.unused = state.expected == 0 || !output.defined();
    }
    if (!searches_ || is_static_ || !output.defined()) return;
    const std::vector<bool> used = used_parameters(output, parameters_);
    for (size_t index = 0; index < states_.size(); ++index)
        states_[index].unused = !used[index];
}

std::vector<size_t> UsedParameters::unused() const {
    std::vector<size_t> indices;
    for (size_t index = 0; index < states_.size(); ++index)
        if (states_[index].unused) indices.push_back(index);
    return indices;
}

Tensor UsedParameters::kept_gradient(size_t index, const Tensor& view) {
    // [lab16.7] Return the parameter's gradient, and keep it outside of the bucket.
    Tensor parameter = parameters_[index].second;
    Tensor gradient = parameter.grad();
    if (gradient.defined() && gradient.shares_storage(view)) {
        gradient = ops::clone(gradient);
        parameter.set_grad(gradient);
    }
    return gradient;
    // [lab16.7]
}

bool UsedParameters::learn_graph() {
    if (!is_static_ || has_learnt_) return false;
    for (State& state : states_) {
        state.unused = state.counted == 0;
        state.expected = state.counted;
    }
    return has_learnt_ = true;
}

bool UsedParameters::completes(size_t index) {
    State& state = states_[index];
    ++state.counted;
    if (is_static_ && !has_learnt_) return false;
    const std::string& name = parameters_[index].first;
    MINI_CHECK(!is_static_ || (!state.unused && state.counted <= state.expected),
               "DistributedDataParallel: the gradient of ", name, " came ", state.counted,
               " times on rank ", group_.rank(), ", but ",
               state.unused ? 0 : state.expected,
               " times in the first iteration; static_graph is for graphs that do not "
               "change");
    MINI_CHECK(!state.unused, "DistributedDataParallel: a gradient of ", name,
               " came on rank ", group_.rank(),
               ", but forward()'s result did not depend on it; is the parameter used "
               "outside of forward()?");
    MINI_CHECK(state.counted <= state.expected,
               "DistributedDataParallel: the gradient of ", name,
               " came twice in one backward pass on rank ", group_.rank(),
               "; is the parameter used outside of forward()?");
    return state.counted == state.expected;
}

bool UsedParameters::may_be_incomplete() const {
    return use_.defined() || std::ranges::any_of(states_, &State::unused);
}

// With static_graph, the exchange is repeated until every rank has had its own first
// pass: a rank that has joined without a batch has its first pass later.
void UsedParameters::start_exchange() {
    if (!searches_ && (!is_static_ || all_have_learnt_)) return;
    use_ = cpu_tensor(own_use());
    exchange_ = group_.all_reduce_async(use_);
}

std::vector<size_t> UsedParameters::finish_exchange() {
    const bool is_complete = !may_be_incomplete();
    std::vector<int64_t> use;
    if (use_.defined()) {
        exchange_->wait();
        use = use_.to_vector<int64_t>();
        all_have_learnt_ = use.back() == group_.world_size();
        use_ = {};
    }
    const bool is_first_pass = std::exchange(is_first_pass_, false);
    if (searches_ && unused().empty() && is_first_pass && group_.rank() == 0)
        logging::warning(
            "DistributedDataParallel: find_unused_parameters is set, but every parameter "
            "was used; without it each iteration saves a walk over the graph");
    for (State& state : states_) state.used = false;
    return is_complete ? std::vector<size_t>() : used_elsewhere(use);
}

std::vector<int64_t> UsedParameters::own_use() const {
    std::vector<int64_t> use;
    for (const State& state : states_) {
        const bool is_used = is_static_ ? has_learnt_ && state.expected > 0 : state.used;
        use.push_back(is_used ? 1 : 0);
    }
    use.push_back(has_learnt_ ? 1 : 0);
    return use;
}

std::vector<size_t> UsedParameters::used_elsewhere(const std::vector<int64_t>& use) {
    std::vector<size_t> indices;
    // [lab16.7] Return each unused parameter that some rank has used.
    for (size_t index = 0; index < states_.size(); ++index) {
        State& state = states_[index];
        if (!use.empty()) state.used_somewhere = use[index] > 0;
        if (state.unused && state.used_somewhere) indices.push_back(index);
    }
    // [lab16.7]
    return indices;
}

}  // namespace mini::parallel
