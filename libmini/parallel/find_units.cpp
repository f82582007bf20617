#include "libmini/parallel/fsdp_unit.hpp"

#include <algorithm>
#include <map>

#include "libmini/autograd/node.hpp"
#include "libmini/parallel/same_parameters.hpp"

namespace mini::parallel {
namespace {

// Returns whether `inner` names a submodule of the one that `outer` names.
bool is_inside(const std::string& inner, const std::string& outer) {
    return outer.empty() ? !inner.empty() : inner.starts_with(outer + ".");
}

// Gives each parameter to the innermost unit that contains it.
void add_parameters(std::vector<Unit>& units, int rank) {
    std::map<const void*, size_t> owners;  // by parameter
    for (size_t i = 0; i < units.size(); ++i)
        for (const auto& [name, parameter] : units[i].module->named_parameters()) {
            size_t& owner = owners.try_emplace(parameter.id(), i).first->second;
            if (is_inside(units[i].name, units[owner].name)) owner = i;
            if (owner != i && !is_inside(units[owner].name, units[i].name))
                throw UsageError("FullyShardedDataParallel: on rank ", rank,
                                 " parameter ", units[i].name, ".", name, " is in unit ",
                                 units[owner].name, " and in unit ", units[i].name,
                                 "; name one unit that contains both");
        }
    for (const auto& [name, parameter] : units[0].module->named_parameters()) {
        if (!parameter.requires_grad() || parameter.autograd_meta()->is_averaged)
            throw UsageError(
                "FullyShardedDataParallel: on rank ", rank, " parameter ", name,
                parameter.requires_grad() ? " is averaged by another wrapper; wrap once"
                                          : " is frozen; thaw it, or leave it out");
        units[owners.at(parameter.id())].parameters.emplace_back(name, parameter);
    }
}

}  // namespace

std::vector<Unit> find_units(nn::Module& module, const std::vector<std::string>& names,
                             const std::shared_ptr<dist::ProcessGroup>& group) {
    const nn::NamedModules all = module.named_modules();
    std::vector<Unit> units{{.name = "", .module = &module, .group = group}};
    for (const std::string& name : names) {
        const auto found =
            std::ranges::find(all, name, &nn::NamedModules::value_type::first);
        if (name.empty() || found == all.end())
            throw UsageError("FullyShardedDataParallel: on rank ", group->rank(),
                             " unit \"", name,
                             "\" is not a submodule; named_modules() has the names");
        units.push_back({.name = name, .module = found->second, .group = group});
    }
    add_parameters(units, group->rank());
    for (size_t i = 1; i < units.size(); ++i)
        if (units[i].parameters.empty())
            throw UsageError("FullyShardedDataParallel: on rank ", group->rank(),
                             " unit ", units[i].name,
                             " has no parameters of its own; leave it out");
    if (units[0].parameters.empty()) units.erase(units.begin());
    for (size_t i = 0; i < units.size(); ++i) units[i].index = static_cast<int64_t>(i);
    check_same_parameters(*group,
                          {.who = "FullyShardedDataParallel",
                           .what = "parameters",
                           .remedy = "every rank must build the same module"},
                          module.named_parameters());
    return units;
}

std::shared_ptr<void> add_hooks(
    const Unit& unit, const std::function<void()>& begin,
    const std::function<void(const Tensor& y)>& end,
    const std::function<void(size_t k, const Tensor& parameter)>& on_gradient) {
    nn::Module& module = *unit.module;
    std::vector<int> ids{
        module.register_forward_pre_hook([=](nn::Module&, const Tensor&) { begin(); }),
        module.register_forward_hook(
            [=](nn::Module&, const Tensor&, const Tensor& y) { end(y); })};
    for (size_t k = 0; k < unit.parameters.size(); ++k)
        ids.push_back(grad_accumulator(unit.parameters[k].second)
                          ->add_hook([=](const Tensor& leaf) { on_gradient(k, leaf); }));
    return {nullptr, [ids, &module, parameters = unit.parameters](void*) {
                module.remove_hook(ids[0]);
                module.remove_hook(ids[1]);
                for (size_t k = 0; k < parameters.size(); ++k)
                    grad_accumulator(parameters[k].second)->remove_hook(ids[k + 2]);
            }};
}

void before_backward(const Tensor& y, const std::weak_ptr<void>& owner,
                     const std::function<void()>& function) {
    if (!is_grad_enabled() || y.is_leaf()) return;
    // Give y, and all its handles, one more node.
    const Tensor result =
        record("FullyShardedDataParallel", y, {y},
               [owner, function](const Tensor& grad, const Node&) -> Grads {
                   if (const auto alive = owner.lock()) function();
                   return {grad};
               });
    y.autograd_meta()->grad_fn = result.autograd_meta()->grad_fn;
}

void Unit::check_missing(size_t k) const {
    MINI_CHECK(missing.contains(k), "FullyShardedDataParallel: on rank ", group->rank(),
               " parameter ", parameters[k].first, " of unit ", text(),
               " has a gradient, but not from the unit's result; use the parameter in "
               "the unit's forward() only");
}

void Unit::check_complete() const {
    std::string names;
    for (const size_t k : missing) names += " " + parameters[k].first;
    MINI_CHECK(missing.empty(), "FullyShardedDataParallel: on rank ", group->rank(),
               " these parameters of unit ", text(),
               " took no part in the loss, so it cannot be reduced; make them a unit of "
               "their own, which is then not called, or use them:",
               names);
}

}  // namespace mini::parallel
