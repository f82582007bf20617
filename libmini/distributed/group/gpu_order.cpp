#include "libmini/distributed/group/gpu_order.hpp"

#include <vector>

#include "libmini/kernels/cuda/allocator.hpp"

namespace mini::dist {

struct GpuOrder::Events {
    explicit Events(int device) : device(device), begin(device), end(device) {}

    int device;
    cuda::Event begin, end;
};

GpuOrder::GpuOrder(Device device) : events_(std::make_shared<Events>(device.index)) {
    events_->begin.record(cuda::current_stream(device.index));
}

GpuOrder::~GpuOrder() = default;

void GpuOrder::begin(cudaStream_t stream) { events_->begin.wait(stream); }

std::function<bool()> GpuOrder::when_begun() const {
    return [events = events_] { return events->begin.query(); };
}

void GpuOrder::end(cudaStream_t stream) { events_->end.record(stream); }

bool GpuOrder::is_done() const { return events_->end.query(); }

void GpuOrder::wait_on_stream() const {
    const cuda::DeviceGuard guard(events_->device);
    events_->end.wait(cuda::current_stream(events_->device));
}

bool DeferredFreeScope::set(bool on) { return cuda::set_frees_later(on); }

bool is_on_gpu(const Call& call) {
    const auto on_gpu = [](const std::vector<Tensor>& tensors) {
        return !tensors.empty() && tensors.front().device().is_cuda();
    };
    return on_gpu(call.outputs) || on_gpu(call.inputs);
}

}  // namespace mini::dist
