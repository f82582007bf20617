#include "libmini/distributed/group/gpu_staging.hpp"

#include <map>
#include <mutex>
#include <vector>

#include "libmini/kernels/cuda/allocator.hpp"
#include "libmini/kernels/cuda/runtime.hpp"

namespace mini::dist {
namespace {

void copy_all(const std::vector<Tensor>& to, const std::vector<Tensor>& from,
              cudaStream_t stream) {
    for (size_t i = 0; i < to.size(); ++i)
        cuda::copy(to[i].raw_data(), from[i].raw_data(), from[i].bytes(), stream);
}

// Returns the CUDA stream in which all results are copied from the host to this device.
cudaStream_t copy_stream(int device) {
    static std::mutex mutex;
    static std::map<int, cuda::Stream> streams;
    const std::lock_guard lock(mutex);
    return streams.try_emplace(device, device).first->second.get();
}

}  // namespace

struct GpuStaging::Events {
    explicit Events(int device)
        : device(device), read(device), written(device), stream(copy_stream(device)) {}

    int device;
    cuda::Event read;     // the inputs are on the host, and the outputs are ready
    cuda::Event written;  // the results are on the device
    cudaStream_t stream;
};

GpuStaging::GpuStaging(Call& call) {
    const Call on_gpu = call;
    for (auto* tensors : {&call.outputs, &call.inputs})
        for (Tensor& tensor : *tensors)
            tensor = Tensor::empty_pinned(tensor.shape(), tensor.dtype());

    // Copy what the operation reads: without inputs it works in place.
    const int device = on_gpu.any_tensor().device().index;
    events_ = std::make_unique<Events>(device);
    const cuda::DeviceGuard guard(device);
    const cudaStream_t stream = cuda::current_stream(device);
    if (call.inputs.empty())
        copy_all(call.outputs, on_gpu.outputs, stream);
    else
        copy_all(call.inputs, on_gpu.inputs, stream);
    events_->read.record(stream);
}

GpuStaging::~GpuStaging() = default;

bool GpuStaging::has_inputs() const { return events_->read.query(); }

void GpuStaging::give_back(const Call& host, const Call& call) {
    const cuda::DeviceGuard guard(events_->device);
    events_->read.wait(events_->stream);
    copy_all(call.outputs, host.outputs, events_->stream);
    for (const Tensor& output : call.outputs)  // may be freed before the copy is done
        cuda::record_stream(output.raw_data(), events_->stream);
    events_->written.record(events_->stream);
}

void GpuStaging::wait_on_stream() const {
    const cuda::DeviceGuard guard(events_->device);
    events_->written.wait(cuda::current_stream(events_->device));
}

bool DeferredFreeScope::set(bool on) { return cuda::set_frees_later(on); }

}  // namespace mini::dist
