// Packing for libraries that need the tensors of all ranks in one buffer: inputs are
// concatenated, outputs are split.

#pragma once

#include <cstdint>
#include <cstring>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::dist {

/// Returns the bytes of all tensors, concatenated. REQUIRES: contiguous tensors.
inline std::vector<std::byte> pack(const std::vector<Tensor>& tensors) {
    std::vector<std::byte> packed;
    for (const Tensor& tensor : tensors)
        packed.insert(packed.end(), tensor.raw_data(),
                      tensor.raw_data() + tensor.bytes());
    return packed;
}

/// Returns the number of bytes of each tensor.
inline std::vector<int64_t> bytes_of(const std::vector<Tensor>& tensors) {
    std::vector<int64_t> bytes;
    for (const Tensor& tensor : tensors)
        bytes.push_back(static_cast<int64_t>(tensor.bytes()));
    return bytes;
}

/// Returns a buffer for the bytes of all tensors.
inline std::vector<std::byte> room_for(const std::vector<Tensor>& tensors) {
    size_t bytes = 0;
    for (const Tensor& tensor : tensors) bytes += tensor.bytes();
    return std::vector<std::byte>(bytes);
}

/// Copies the bytes of `packed` to the tensors: the inverse of pack(). REQUIRES: `packed`
/// has as many bytes as all tensors together; contiguous tensors.
inline void unpack(const std::vector<std::byte>& packed,
                   const std::vector<Tensor>& tensors) {
    const std::byte* next = packed.data();
    for (const Tensor& tensor : tensors) {
        if (tensor.bytes() > 0) std::memcpy(tensor.raw_data(), next, tensor.bytes());
        next += tensor.bytes();
    }
}

}  // namespace mini::dist
