#include "libmini/kernels/registry.hpp"

namespace mini::kernels {
namespace {

FasterKernels registered;

}  // namespace

void use_faster_kernels(const FasterKernels& kernels) { registered = kernels; }

const FasterKernels& faster_kernels() { return registered; }

}  // namespace mini::kernels
