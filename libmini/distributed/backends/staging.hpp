// Libraries that want one block of memory where we have a tensor a rank: what goes in is
// copied one behind the other, and what comes out is copied apart.

#pragma once

#include <cstring>
#include <vector>

#include "libmini/tensor/tensor.hpp"

namespace mini::dist {

/// The bytes of all tensors, one behind the other. REQUIRES: contiguous tensors.
inline std::vector<std::byte> pack(const std::vector<Tensor>& tensors) {
    std::vector<std::byte> packed;
    for (const Tensor& tensor : tensors)
        packed.insert(packed.end(), tensor.raw_data(),
                      tensor.raw_data() + tensor.bytes());
    return packed;
}

/// Room for the bytes of all tensors.
inline std::vector<std::byte> room_for(const std::vector<Tensor>& tensors) {
    return std::vector<std::byte>(
        tensors.empty() ? 0 : tensors.size() * tensors.front().bytes());
}

/// The reverse of pack. REQUIRES: as many bytes as the tensors have together.
inline void unpack(const std::vector<std::byte>& packed,
                   const std::vector<Tensor>& tensors) {
    const std::byte* next = packed.data();
    for (const Tensor& tensor : tensors) {
        if (tensor.bytes() > 0) std::memcpy(tensor.raw_data(), next, tensor.bytes());
        next += tensor.bytes();
    }
}

}  // namespace mini::dist
