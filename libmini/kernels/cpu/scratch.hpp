// Temporary memory of a kernel on the CPU.

#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

namespace mini::kernels::cpu {

/// Returns uninitialized memory of `size` floats.
inline std::unique_ptr<float[]> scratch(int64_t size) {
    return std::make_unique_for_overwrite<float[]>(static_cast<size_t>(size));
}

}  // namespace mini::kernels::cpu
