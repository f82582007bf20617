#include "libmini/nn/container.hpp"

namespace mini::nn {

void ModuleList::add(Module& module) {
    register_module(std::to_string(size()), module);
    modules_.push_back(&module);
}

Tensor ModuleList::forward(const Tensor&) {
    throw UsageError(
        "ModuleList: a list has no forward; call its modules one by one, or use "
        "Sequential");
}

Tensor Sequential::forward(const Tensor& x) {
    Tensor y = x;
    for (Module* const module : *this) y = (*module)(y);
    return y;
}

}  // namespace mini::nn
