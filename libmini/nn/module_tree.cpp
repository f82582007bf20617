#include <algorithm>
#include <string>
#include <unordered_set>
#include <vector>

#include "libmini/nn/module.hpp"
#include "libmini/tensor/autograd_meta.hpp"
#include "libmini/tensor/ops.hpp"

// [lab04 file]
namespace mini::nn {
namespace {

// Keeps each tensor once, with its first name.
NamedTensors without_repeats(NamedTensors tensors) {
    // [lab04.1] Drop the tensors that came before under another name.
    std::unordered_set<const void*> seen;
    std::erase_if(tensors, [&](const auto& entry) {
        return !seen.insert(entry.second.id()).second;
    });
    // [lab04.1]
    return tensors;
}

const Tensor* find(const NamedTensors& tensors, const std::string& name) {
    const auto found = std::ranges::find(tensors, name, &NamedTensors::value_type::first);
    return found == tensors.end() ? nullptr : &found->second;
}

// Lists the differences that prevent copying `state` into `own`, one line each.
std::string differences(const NamedTensors& own, const NamedTensors& state) {
    std::string lines;
    // [lab04.2] Append a line for each missing, different or unexpected tensor.
    for (const auto& [name, tensor] : own) {
        const Tensor* const given = find(state, name);
        if (given == nullptr)
            lines += concat("\n  missing: ", name, " ", tensor.shape());
        else if (given->shape() != tensor.shape() || given->dtype() != tensor.dtype())
            lines += concat("\n  ", name, ": the module has ", tensor.dtype(), " ",
                            tensor.shape(), ", the state ", given->dtype(), " ",
                            given->shape());
    }
    for (const auto& [name, tensor] : state)
        if (find(own, name) == nullptr)
            lines += concat("\n  unexpected: ", name, " ", tensor.shape());
    // [lab04.2]
    return lines;
}

}  // namespace

void Module::walk(const std::string& prefix, const Visit& visit) const {
    // [lab04.1] Visit this module, then walk through its submodules.
    visit(prefix, *this);
    for (const auto& [name, module] : modules_) module->walk(prefix + name + ".", visit);
    // [lab04.1]
}

void Module::train(bool training) {
    // [lab04.1] Set the mode of this module and of everything below it.
    training_ = training;
    for (const auto& [name, module] : modules_) module->train(training);
    // [lab04.1]
}

NamedTensors Module::named_parameters() const {
    NamedTensors all;
    walk("", [&](const std::string& prefix, const Module& module) {
        append(all, prefix, module.parameters_);
    });
    return without_repeats(std::move(all));
}

NamedTensors Module::named_buffers() const {
    NamedTensors all;
    walk("", [&](const std::string& prefix, const Module& module) {
        append(all, prefix, module.buffers_);
    });
    return without_repeats(std::move(all));
}

std::vector<Module*> Module::modules() {
    std::vector<Module*> all{this};
    // [lab04.1] Append the submodules and their submodules, each module once.
    for (const auto& [name, module] : modules_)
        for (Module* const below : module->modules())
            if (std::ranges::find(all, below) == all.end()) all.push_back(below);
    // [lab04.1]
    return all;
}

NamedTensors Module::state_dict() const {
    NamedTensors state;
    // [lab04.2] Append each module's parameters, then its buffers, under full names.
    walk("", [&](const std::string& prefix, const Module& module) {
        append(state, prefix, module.parameters_);
        append(state, prefix, module.buffers_);
    });
    // [lab04.2]
    for (auto& [name, tensor] : state) tensor = tensor.detach();
    return state;
}

void Module::load_state_dict(const NamedTensors& state) {
    NamedTensors own = state_dict();
    const std::string errors = differences(own, state);
    MINI_CHECK(errors.empty(),
               "load_state_dict: the state does not fit this module:", errors);
    const NoGradGuard no_grad;
    // [lab04.2] Copy the values of each tensor of the state.
    for (auto& [name, tensor] : own) ops::copy_(tensor, *find(state, name));
    // [lab04.2]
}

}  // namespace mini::nn
// [lab04 file]
