// CapturedStep in a build without CUDA devices: the constructor throws.

#include <utility>
#include <vector>

#include "libmini/core/error.hpp"
#include "libmini/tensor/has_cuda.hpp"
#include "libmini/training/captured_step.hpp"

namespace mini::training {

struct CapturedStep::Capture {};

CapturedStep::CapturedStep(optim::Optimizer& optimizer, Loss loss)
    : optimizer_(optimizer), loss_(std::move(loss)) {
    throw UsageError(
        "CapturedStep: this build has no CUDA devices; configure with MINI_CUDA=SIM or "
        "ON");
}

CapturedStep::~CapturedStep() = default;
Tensor CapturedStep::operator()(const std::vector<Tensor>&) { no_cuda(); }

}  // namespace mini::training
