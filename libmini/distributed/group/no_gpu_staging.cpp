// Stubs for a build without CUDA, in which no tensor is on a GPU.

#include "libmini/distributed/group/gpu_staging.hpp"
#include "libmini/kernels/gpu.hpp"

namespace mini::dist {

struct GpuStaging::Events {};

GpuStaging::GpuStaging(Call&) { cuda::synchronize(0); }  // throws Error
GpuStaging::~GpuStaging() = default;
bool GpuStaging::has_inputs() const { return true; }
void GpuStaging::give_back(const Call&, const Call&) {}
void GpuStaging::wait_on_stream() const {}

bool DeferredFreeScope::set(bool) { return false; }

}  // namespace mini::dist
