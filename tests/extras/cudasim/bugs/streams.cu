// Missing synchronisation between two streams, or between a stream and the host.

#include "libmini/kernels/cuda/launch.hpp"
#include "tests/extras/cudasim/bugs/bugs.hpp"

namespace mini::bugs {
namespace {

using mini::cuda::launch;

constexpr int kThreads = 32;

__global__ void read_copied(float* out, const float* x) {
    out[threadIdx.x] = x[threadIdx.x];  // BUG copy_in_other_stream
}
__global__ void produce(float* x) { x[threadIdx.x] = 2.0f; }  // BUG forgotten_event
__global__ void consume(float* out, const float* x) {
    out[threadIdx.x] = x[threadIdx.x];  // BUG forgotten_event
}

// Pinned memory, an event, and two streams that do not wait for the default stream.
struct Setting {
    Setting() {
        cudaStreamCreateWithFlags(&first, cudaStreamNonBlocking);
        cudaStreamCreateWithFlags(&second, cudaStreamNonBlocking);
        cudaEventCreateWithFlags(&event, cudaEventDisableTiming);
        cudaMallocHost(reinterpret_cast<void**>(&pinned), kThreads * sizeof(float));
        for (int i = 0; i < kThreads; ++i) pinned[i] = 1.0f;
        cudaDeviceSynchronize();
    }
    ~Setting() {
        cudaDeviceSynchronize();
        cudaFreeHost(pinned);
        cudaEventDestroy(event);
        cudaStreamDestroy(second);
        cudaStreamDestroy(first);
    }
    Setting(const Setting&) = delete;
    Setting& operator=(const Setting&) = delete;

    // Makes the second stream wait for the work that is in the first stream now.
    void order() const {
        cudaEventRecord(event, first);
        cudaStreamWaitEvent(second, event);
    }

    cudaStream_t first = nullptr, second = nullptr;
    cudaEvent_t event = nullptr;
    float* pinned = nullptr;
};

}  // namespace

void copy_in_other_stream(bool wrong) {
    const Floats x(kThreads), out(kThreads);
    const Setting at;
    cudaMemcpyAsync(x.get(), at.pinned, x.bytes(), cudaMemcpyHostToDevice, at.first);
    if (!wrong) at.order();
    launch(read_copied, {.grid = 1, .block = kThreads}, at.second, out.get(), x.get());
}
void forgotten_event(bool wrong) {
    const Floats x(kThreads), out(kThreads);
    const Setting at;
    launch(produce, {.grid = 1, .block = kThreads}, at.first, x.get());
    if (!wrong) at.order();
    launch(consume, {.grid = 1, .block = kThreads}, at.second, out.get(), x.get());
}
void read_before_sync(bool wrong) {
    const Floats x(kThreads);
    const Setting at;
    cudaMemcpyAsync(at.pinned, x.get(), x.bytes(), cudaMemcpyDeviceToHost, at.first);
    if (!wrong) cudaStreamSynchronize(at.first);
    const float seen = *static_cast<volatile float*>(at.pinned);  // BUG read_before_sync
    if (seen != 1.0f) cudaDeviceSynchronize();
}
void reused_staging(bool wrong) {
    const Floats x(kThreads);
    const Setting at;
    cudaMemcpyAsync(x.get(), at.pinned, x.bytes(), cudaMemcpyHostToDevice, at.first);
    if (!wrong) cudaStreamSynchronize(at.first);
    *static_cast<volatile float*>(at.pinned) = 2.0f;  // BUG reused_staging
}

}  // namespace mini::bugs
