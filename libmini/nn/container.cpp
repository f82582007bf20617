#include "libmini/nn/container.hpp"

namespace mini::nn {

Tensor Sequential::forward(const Tensor& x) {
    Tensor y = x;
    for (Module* const step : steps_) y = (*step)(y);
    return y;
}

void Sequential::add(Module& module) {
    register_module(std::to_string(size()), module);
    steps_.push_back(&module);
}

Tensor ModuleList::forward(const Tensor&) {
    throw UsageError(
        "ModuleList: a list has no forward; call its modules one by one, or use "
        "Sequential");
}

}  // namespace mini::nn
