#include "libmini/parallel/wrapped_parameters.hpp"

#include <algorithm>
#include <cstddef>

#include "libmini/core/error.hpp"

namespace mini::parallel {

WrappedParameters::WrappedParameters(const nn::Module& module) : module_(module) {
    for (const auto& [name, tensor] : module.named_parameters()) {
        all_.push_back({name, tensor, tensor.shape(), tensor.device(), nullptr});
        if (!tensor.requires_grad()) continue;
        trained_.emplace_back(name, tensor);
        all_.back().accumulator = grad_accumulator(tensor);
        if (tensor.autograd_meta()->is_averaged)
            throw UsageError(
                "DistributedDataParallel: parameter ", name,
                " is part of a module that is wrapped already; its gradient would be "
                "averaged twice; wrap the whole model once, and no part of it");
    }
    if (trained_.empty())
        throw UsageError(
            "DistributedDataParallel: no parameter of the module requires grad");
    for (const auto& [name, tensor] : trained_)
        tensor.autograd_meta()->is_averaged = true;
}

WrappedParameters::~WrappedParameters() {
    for (const auto& [name, tensor] : trained_)
        tensor.autograd_meta()->is_averaged = false;
}

// Returns what has changed, or "".
std::string WrappedParameters::change_of(const Wrapped& wrapped, const Tensor& now) {
    const bool was_claimed = wrapped.accumulator != nullptr;
    if (!now.is_same(wrapped.tensor) ||
        (was_claimed && now.autograd_meta()->accumulator != wrapped.accumulator))
        return "was replaced";
    if (!was_claimed && now.requires_grad()) return "began to require grad";
    if (now.device() != wrapped.device)
        return concat("was moved from ", wrapped.device, " to ", now.device());
    if (now.shape() != wrapped.shape)
        return concat("was changed from ", wrapped.shape, " to ", now.shape());
    return "";
}

// Returns the first parameter that has changed, and its change; or "".
std::string WrappedParameters::first_change() const {
    const nn::NamedTensors now = module_.named_parameters();
    for (size_t i = 0; i < std::min(all_.size(), now.size()); ++i)
        if (const std::string change = change_of(all_[i], now[i].second); !change.empty())
            return concat(all_[i].name, " ", change);
    if (now.size() > all_.size()) return concat(now[all_.size()].first, " was added");
    if (now.size() < all_.size())  // it is one of the others now, which counts once
        return concat(all_[now.size()].name, " was replaced");
    return "";
}

void WrappedParameters::check_unchanged(int rank) const {
    const std::string change = first_change();
    MINI_CHECK(change.empty(), "DistributedDataParallel: parameter ", change, " on rank ",
               rank,
               " after the module was wrapped, so its gradient would not be averaged; "
               "change the module first, then wrap it");
}

}  // namespace mini::parallel
