// Where a tensor lives.

#pragma once

#include <ostream>
#include <string>
#include <string_view>

namespace mini {

/// Where a tensor's numbers lie (`torch.device`).
struct Device {
    /// The processor, or a GPU: a real one or the simulator's.
    enum class Type { kCPU, kCUDA };

    Type type = Type::kCPU;
    int index = 0;

    /// An index above 0 is another lane of the CPU: the same memory, a thread of its own.
    static Device cpu(int index = 0) { return {Type::kCPU, index}; }
    static Device cuda(int index = 0) { return {Type::kCUDA, index}; }

    /// From PyTorch's spelling, "cuda" meaning "cuda:0". Throws UsageError for another
    /// word and for a GPU that is not there, naming how many there are or why none is.
    static Device parse(std::string_view text);

    bool is_cpu() const { return type == Type::kCPU; }
    bool is_cuda() const { return type == Type::kCUDA; }
    bool operator==(const Device&) const = default;
};

/// PyTorch's spelling: "cpu", "cpu:1", "cuda:1".
inline std::ostream& operator<<(std::ostream& out, Device device) {
    if (device == Device::cpu()) return out << "cpu";
    return out << (device.is_cpu() ? "cpu:" : "cuda:") << device.index;
}

/// Where this thread makes tensors when no device is given (`torch.get_default_device`):
/// the CPU unless set_default_device says otherwise. Threads begin with the CPU.
Device default_device();
void set_default_device(Device device);

/// The number of GPUs, or of the simulator's devices (`torch.cuda.device_count`).
int cuda_device_count();

/// How many there are, or why there is none: no driver, or a build without them.
std::string cuda_device_count_text();

/// Whether this process has asked CUDA for anything, be it how many devices there are
/// (`torch.cuda.is_initialized`).
bool cuda_is_initialized();

/// Blocks until all work given to a device is done; nothing on the CPU
/// (`torch.cuda.synchronize`).
void synchronize(Device device);

}  // namespace mini
