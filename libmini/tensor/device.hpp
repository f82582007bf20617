// Device: the CPU or a GPU that holds a tensor.

#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace mini {

/// The device that holds a tensor's elements (`torch.device`).
struct Device {
    /// The CPU, or a GPU (real or simulated).
    enum class Type { kCPU, kCUDA };

    Type type = Type::kCPU;
    int index = 0;

    /// Returns the CPU or a GPU. A CPU index above 0 means another
    /// thread that computes on the same memory (parallel/device_worker.hpp).
    static Device cpu(int index = 0) { return {Type::kCPU, index}; }
    static Device cuda(int index = 0) { return {Type::kCUDA, index}; }

    /// Parses a device in PyTorch's spelling; "cuda" means "cuda:0". Throws UsageError if
    /// `text` is not a device. Throws UsageError if the GPU does not exist; the message
    /// has the number of GPUs, or the reason why no GPU is available.
    static Device parse(std::string_view text);

    bool is_cpu() const { return type == Type::kCPU; }
    bool is_cuda() const { return type == Type::kCUDA; }
    bool operator==(const Device&) const = default;
};

/// Prints PyTorch's spelling: "cpu", "cpu:1", "cuda:1".
inline std::ostream& operator<<(std::ostream& out, Device device) {
    if (device == Device::cpu()) return out << "cpu";
    return out << (device.is_cpu() ? "cpu:" : "cuda:") << device.index;
}

/// Returns this thread's default device for new tensors (`torch.get_default_device`); the
/// CPU unless set_default_device has been called on this thread.
Device default_device();

/// Sets this thread's default device (`torch.set_default_device`).
void set_default_device(Device device);

/// Returns the number of GPUs, real or simulated (`torch.cuda.device_count`).
int cuda_device_count();

/// Returns whether the GPUs are simulated, and slower than the CPU; false without a GPU.
bool cuda_is_simulated();

/// Returns a text with the number of GPUs, or the reason why no GPU is available: no
/// driver, or a build without CUDA.
std::string cuda_device_count_text();

/// Blocks until all work queued on a GPU has completed (`torch.cuda.synchronize`).
/// Returns immediately on the CPU.
void synchronize(Device device);

}  // namespace mini
