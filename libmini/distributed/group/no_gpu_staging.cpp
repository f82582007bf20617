// Stubs for a build without CUDA, in which no tensor is on a GPU.

#include "libmini/distributed/group/gpu_order.hpp"
#include "libmini/distributed/group/gpu_staging.hpp"
#include "libmini/tensor/has_cuda.hpp"

namespace mini::dist {

struct GpuStaging::Events {};

GpuStaging::GpuStaging(const Call&) { no_cuda(); }
GpuStaging::~GpuStaging() = default;
bool GpuStaging::has_inputs() const { return true; }
void GpuStaging::give_back() {}
void GpuStaging::wait_on_stream() const {}

struct GpuOrder::Events {};

GpuOrder::GpuOrder(Device) { no_cuda(); }
GpuOrder::~GpuOrder() = default;
void GpuOrder::begin(cudaStream_t) {}
std::function<bool()> GpuOrder::when_begun() const { return nullptr; }
void GpuOrder::end(cudaStream_t) {}
bool GpuOrder::is_done() const { return true; }
void GpuOrder::wait_on_stream() const {}

bool DeferredFreeScope::set(bool) { return false; }

bool is_on_gpu(const Call&) { return false; }

}  // namespace mini::dist
