#include "libmini/tensor/autograd_meta.hpp"

namespace mini {
namespace {

thread_local bool grad_enabled = true;

bool requires_grad(const Tensor& x) {
    return x.defined() && x.autograd_meta() != nullptr &&
           x.autograd_meta()->requires_grad;
}

}  // namespace

bool is_grad_enabled() { return grad_enabled; }

GradModeGuard::GradModeGuard(bool enabled) : previous_(grad_enabled) {
    grad_enabled = enabled;
}
GradModeGuard::~GradModeGuard() { grad_enabled = previous_; }

void check_not_recorded(const char* name, const Tensor& x, const Tensor& source,
                        const char* instead) {
    if (!grad_enabled) return;
    const bool is_result = requires_grad(x) && x.autograd_meta()->grad_fn != nullptr;
    MINI_CHECK(!is_result, name, ": the tensor of shape ", x.shape(),
               " is the result of a recorded operation, and ", name,
               " does not record the change; use ", instead);
    MINI_CHECK(!requires_grad(x), name, ": the tensor of shape ", x.shape(),
               " is a leaf that requires grad, and ", name,
               " does not record the change; change it while a NoGradGuard exists, or "
               "use ",
               instead);
    MINI_CHECK(!requires_grad(source), name, ": the source of shape ", source.shape(),
               " requires grad, and ", name,
               " does not record the change; pass source.detach(), or use ", instead);
}

}  // namespace mini
