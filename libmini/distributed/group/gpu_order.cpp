#include "libmini/distributed/group/gpu_order.hpp"

#include <vector>

#include "libmini/kernels/cuda/allocator.hpp"

namespace mini::dist {

struct GpuOrder::Places {
    explicit Places(int device) : device(device), begin(device), end(device) {}

    int device;
    cuda::Event begin, end;
};

GpuOrder::GpuOrder(Device device) : places_(std::make_unique<Places>(device.index)) {
    places_->begin.record(cuda::current_stream(device.index));
}

GpuOrder::~GpuOrder() = default;

void GpuOrder::begin(cudaStream_t stream) { places_->begin.wait(stream); }

void GpuOrder::end(cudaStream_t stream) { places_->end.record(stream); }

bool GpuOrder::is_done() const { return places_->end.query(); }

void GpuOrder::wait_on_stream() const {
    const cuda::DeviceGuard guard(places_->device);
    places_->end.wait(cuda::current_stream(places_->device));
}

bool DeferredFreeScope::set(bool on) { return cuda::set_frees_later(on); }

bool is_on_gpu(const Call& call) {
    const auto on_gpu = [](const std::vector<Tensor>& tensors) {
        return !tensors.empty() && tensors.front().device().is_cuda();
    };
    return on_gpu(call.outputs) || on_gpu(call.inputs);
}

void check_not_recorded(const Call& call) {
    const Device device = call.any_tensor().device();
    const cuda::DeviceGuard guard(device.index);
    if (cuda::is_capturing(cuda::current_stream(device.index)))
        throw UsageError(concat(operation_name(call.operation),
                                ": communication cannot be recorded in a CUDA graph; "
                                "record what comes before it and after it"));
}

}  // namespace mini::dist
