// Where a tensor lives.

#pragma once

#include <ostream>

namespace mini {

struct Device {
    enum class Type { kCPU, kCUDA };

    Type type = Type::kCPU;
    int index = 0;

    static Device cpu() { return {}; }
    static Device cuda(int index) { return {Type::kCUDA, index}; }

    bool is_cpu() const { return type == Type::kCPU; }
    bool operator==(const Device&) const = default;
};

/// PyTorch's spelling: "cpu", "cuda:1".
inline std::ostream& operator<<(std::ostream& out, Device device) {
    return device.is_cpu() ? out << "cpu" : out << "cuda:" << device.index;
}

}  // namespace mini
