// Where a tensor lives.

#pragma once

#include <ostream>

namespace mini {

struct Device {
    enum class Type { kCPU, kCUDA };

    Type type = Type::kCPU;
    int index = 0;

    /// An index above 0 is another lane of the CPU: the same memory, a thread of its own.
    static Device cpu(int index = 0) { return {Type::kCPU, index}; }
    static Device cuda(int index) { return {Type::kCUDA, index}; }

    bool is_cpu() const { return type == Type::kCPU; }
    bool operator==(const Device&) const = default;
};

/// PyTorch's spelling: "cpu", "cpu:1", "cuda:1".
inline std::ostream& operator<<(std::ostream& out, Device device) {
    if (device == Device::cpu()) return out << "cpu";
    return out << (device.is_cpu() ? "cpu:" : "cuda:") << device.index;
}

}  // namespace mini
