#include "libmini/kernels/cuda/runtime.hpp"

#include <cuda_runtime.h>

#include <string>
#include <utility>
#include <vector>

#include "libmini/kernels/cuda/contexts.hpp"

namespace mini::cuda {
namespace {

// This thread's current streams, by device. A missing entry is the default stream.
std::vector<cudaStream_t>& current_streams() {
    thread_local std::vector<cudaStream_t> streams;
    return streams;
}

cudaDeviceProp properties_of(int device) {
    cudaDeviceProp properties;
    check(cudaGetDeviceProperties(&properties, device), "cudaGetDeviceProperties");
    return properties;
}

// For destructors: makes a device current and calls `body`. Does nothing if the device
// cannot be made current.
template <typename Body>
void quietly_on(int device, const Body& body) noexcept {
    try {
        const DeviceGuard guard(device);
        body();
    } catch (const Error&) {  // the driver has shut down, or the device is lost
    }
    cudaGetLastError();
}

}  // namespace

int device_count() {
    note_initialized();
    // Asked once: the number does not change while a process runs, and each new tensor
    // checks its device's index.
    static const int found = [] {
        int count = 0;
        return cudaGetDeviceCount(&count) == cudaSuccess ? count : 0;
    }();
    return found;
}

std::string device_count_text() {
    note_initialized();
    int count = 0;
    const cudaError_t error = cudaGetDeviceCount(&count);
    if (error != cudaSuccess)
        return concat("this machine has no CUDA device: ", error_text(error));
    return concat("this machine has ", count, " CUDA ",
                  count == 1 ? "device" : "devices");
}

std::string device_name(int device) { return properties_of(device).name; }

std::string device_uuid(int device) {
    const cudaUUID_t uuid = properties_of(device).uuid;
    constexpr char kDigits[] = "0123456789abcdef";
    std::string text = "GPU";
    for (int i = 0; i < 16; ++i) {
        if (i == 0 || i == 4 || i == 6 || i == 8 || i == 10) text += '-';
        const auto byte = static_cast<unsigned char>(uuid.bytes[i]);
        text += {kDigits[byte / 16], kDigits[byte % 16]};
    }
    return text;
}

void synchronize(int device) {
    const DeviceGuard guard(device);
    check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
}

DeviceGuard::DeviceGuard(int device) {
    before_ = exchange_device(device);
    changed_ = device != before_;
}

DeviceGuard::~DeviceGuard() {
    if (changed_) return_to_device(before_);
}

Stream::Stream(int device) : device_(device) {
    const DeviceGuard guard(device);
    check(cudaStreamCreateWithFlags(&stream_, cudaStreamNonBlocking),
          "cudaStreamCreateWithFlags");
}

// Waits for the stream's work: CUDA may reuse the handle for a new stream immediately,
// and resources that are stored by handle, such as memory and cuBLAS's workspace, would
// then have two users.
Stream::~Stream() {
    if (stream_ == nullptr) return;
    quietly_on(device_, [&] {
        cudaStreamSynchronize(stream_);
        cudaStreamDestroy(stream_);
    });
}

Stream::Stream(Stream&& other) noexcept
    : stream_(std::exchange(other.stream_, nullptr)), device_(other.device_) {}

void Stream::synchronize() const { synchronize_stream(stream_); }

Event::Event(int device) : device_(device) {
    const DeviceGuard guard(device);
    check(cudaEventCreateWithFlags(&event_, cudaEventDisableTiming),
          "cudaEventCreateWithFlags");
}

Event::~Event() {
    if (event_ != nullptr) quietly_on(device_, [&] { cudaEventDestroy(event_); });
}

Event::Event(Event&& other) noexcept
    : event_(std::exchange(other.event_, nullptr)), device_(other.device_) {}

void Event::record(cudaStream_t stream) {
    const DeviceGuard guard(device_);
    check(cudaEventRecord(event_, stream), "cudaEventRecord");
}

bool Event::query() const {
    const DeviceGuard guard(device_);
    const cudaError_t code = cudaEventQuery(event_);
    if (code == cudaErrorNotReady) {
        cudaGetLastError();  // clear it, or the next launch reports it as its own error
        return false;
    }
    check(code, "cudaEventQuery");
    return true;
}

void Event::synchronize() const {
    const DeviceGuard guard(device_);
    check(cudaEventSynchronize(event_), "cudaEventSynchronize");
}

void Event::wait(cudaStream_t stream) const {
    check(cudaStreamWaitEvent(stream, event_, 0), "cudaStreamWaitEvent");
}

cudaStream_t current_stream(int device) {
    const auto& streams = current_streams();
    const auto index = static_cast<size_t>(device);
    return index < streams.size() ? streams[index] : nullptr;
}

StreamGuard::StreamGuard(int device, cudaStream_t stream)
    : device_(device), before_(current_stream(device)) {
    const auto index = static_cast<size_t>(device);
    auto& streams = current_streams();
    if (index >= streams.size()) streams.resize(index + 1);
    streams[index] = stream;
}

StreamGuard::~StreamGuard() { current_streams()[static_cast<size_t>(device_)] = before_; }

void set_bytes(void* to, int value, size_t bytes, cudaStream_t stream) {
    if (bytes > 0) check(cudaMemsetAsync(to, value, bytes, stream), "cudaMemsetAsync");
}

void synchronize_stream(cudaStream_t stream) {
    check(cudaStreamSynchronize(stream), "cudaStreamSynchronize");
}

}  // namespace mini::cuda
