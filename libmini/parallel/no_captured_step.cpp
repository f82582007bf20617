// In a build without CUDA devices there are no CUDA graphs.

#include <utility>
#include <vector>

#include "libmini/parallel/captured_step.hpp"
#include "libmini/tensor/has_cuda.hpp"

namespace mini::parallel {

struct CapturedStep::Recorded {};

CapturedStep::CapturedStep(optim::Optimizer& optimizer, Loss loss)
    : optimizer_(optimizer), loss_(std::move(loss)) {
    throw UsageError(
        "CapturedStep: this build has no CUDA devices; configure with MINI_CUDA=SIM or "
        "ON");
}

CapturedStep::~CapturedStep() = default;
Tensor CapturedStep::operator()(const std::vector<Tensor>&) { no_cuda(); }

}  // namespace mini::parallel
