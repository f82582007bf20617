#include "libmini/nn/module.hpp"

#include <algorithm>
#include <unordered_set>

namespace mini::nn {
namespace {

std::vector<Tensor> without_names(const NamedTensors& tensors) {
    std::vector<Tensor> result;
    for (const auto& [name, tensor] : tensors) result.push_back(tensor);
    return result;
}

// Throws UsageError unless `tensor` is a parameter: registered with a module, or a leaf that
// requires grad, which is then a parameter from now on, even if it is frozen later.
void check_parameter(const std::string& name, const Tensor& tensor) {
    if (tensor.is_parameter()) return;  // and write nothing: other threads read it
    if (!tensor.is_leaf() || !tensor.requires_grad())
        throw UsageError(
            "module: the parameter ", name, " was assigned a tensor of shape ",
            tensor.shape(), " that ",
            tensor.is_leaf() ? "does not require grad; call set_requires_grad() on it"
                             : "is the result of an operation; assign a leaf",
            ", or write the values into the parameter with a NoGradGuard in scope");
    tensor.set_is_parameter();
}

}  // namespace

int Module::register_forward_pre_hook(ForwardPreHook hook) {
    pre_hooks_[next_hook_] = std::move(hook);
    return next_hook_++;
}

int Module::register_forward_hook(ForwardHook hook) {
    hooks_[next_hook_] = std::move(hook);
    return next_hook_++;
}

void Module::remove_hook(int id) {
    pre_hooks_.erase(id);
    hooks_.erase(id);
}

Tensor Module::forward_with_hooks(const Tensor& x) {
    for (const auto& [id, hook] : std::map(pre_hooks_)) hook(*this, x);
    Tensor y = forward(x);
    for (const auto& [id, hook] : std::map(hooks_)) hook(*this, x, y);
    return y;
}

std::vector<Tensor> Module::parameters() const {
    return without_names(named_parameters());
}
std::vector<Tensor> Module::buffers() const { return without_names(named_buffers()); }

NamedModules Module::named_modules(const std::string& prefix) {
    NamedModules all{{prefix, this}};
    for (const auto& [name, module] : modules_) {
        const std::string path = prefix.empty() ? name : concat(prefix, ".", name);
        for (auto& below : module->named_modules(path))
            if (std::ranges::find(all, below.second, &NamedModules::value_type::second) ==
                all.end())
                all.push_back(std::move(below));
    }
    return all;
}

void Module::apply(const std::function<void(Module&)>& function) {
    std::unordered_set<const Module*> seen;
    for (const auto& [name, module] : modules_)
        if (seen.insert(module).second) module->apply(function);
    function(*this);
}

Module& Module::to(Device device) {
    for (Tensor& parameter : parameters()) {
        parameter.set_data(parameter.to(device));
        if (parameter.grad().defined()) parameter.set_grad(parameter.grad().to(device));
    }
    for (Tensor& buffer : buffers()) buffer.set_data(buffer.to(device));
    return *this;
}

void Module::zero_grad() {
    for (Tensor& parameter : parameters()) parameter.set_grad({});
}

Tensor& Module::register_parameter(const std::string& name, Tensor& member) {
    check_name(name);
    if (member.defined()) member.set_requires_grad().set_is_parameter();
    parameters_.push_back({name, &member, /*is_parameter=*/true});
    return member;
}

Tensor& Module::register_parameter(const std::string& name, const Tensor& parameter) {
    check_name(name);
    return register_parameter(name, tensors_.emplace_back(parameter));
}

Tensor& Module::register_buffer(const std::string& name, Tensor& member) {
    check_name(name);
    buffers_.push_back({name, &member, /*is_parameter=*/false});
    return member;
}

Tensor& Module::register_buffer(const std::string& name, const Tensor& buffer) {
    check_name(name);
    return register_buffer(name, tensors_.emplace_back(buffer));
}

void Module::register_module(const std::string& name, Module& module) {
    check_name(name);
    MINI_CHECK(std::ranges::count(module.modules(), this) == 0, "module: \"", name,
               "\" is this module, or one that has it as a submodule");
    modules_.emplace_back(name, &module);
}

void Module::check_name(const std::string& name) const {
    const bool is_taken =
        std::ranges::count(parameters_, name, &NamedMember::name) > 0 ||
        std::ranges::count(buffers_, name, &NamedMember::name) > 0 ||
        std::ranges::count(modules_, name, &NamedModules::value_type::first) > 0;
    MINI_CHECK(!name.empty() && name.find('.') == std::string::npos,
               "module: the name \"", name,
               "\" is empty or has a dot, which separates modules");
    MINI_CHECK(!is_taken, "module: the name \"", name, "\" is taken");
}

IncompatibleKeys Module::load_state_dict(const NamedTensors& state, LoadOptions options) {
    // A missing tensor is replaced by the module's own, which is copied to itself.
    std::map<std::string, Tensor> given(state.begin(), state.end());
    NamedTensors loaded;
    IncompatibleKeys keys;
    for (const auto& [name, tensor] : state_dict()) {
        const auto found = given.extract(name);
        if (found.empty()) keys.missing_keys.push_back(name);
        loaded.emplace_back(name, found.empty() ? tensor : found.mapped());
    }
    for (const auto& [name, tensor] : state)
        if (given.contains(name)) keys.unexpected_keys.push_back(name);
    load_state_dict(options.strict ? state : loaded);
    return keys;
}

void Module::append(NamedTensors& all, const std::string& prefix,
                    const NamedMembers& members) {
    for (const auto& [name, member, is_parameter] : members) {
        if (!member->defined()) continue;
        if (is_parameter) check_parameter(prefix + name, *member);
        all.emplace_back(prefix + name, *member);
    }
}

}  // namespace mini::nn
