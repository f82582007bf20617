// Elements: the data of a tensor for the collective algorithms: its bytes and its dtype.
// A slice always contains whole elements.

#pragma once

#include <cstddef>
#include <cstring>
#include <span>

#include "libmini/core/dtype.hpp"
#include "libmini/tensor/tensor.hpp"

namespace mini::dist {

/// Returns the index at which part k begins, if n elements are divided into `parts` nearly
/// equal parts; n for k = parts.
inline size_t part_begin(size_t n, size_t k, size_t parts) { return n * k / parts; }

struct Elements {
    std::span<std::byte> bytes;
    DType dtype = DType::kUInt8;

    Elements(std::span<std::byte> bytes, DType dtype) : bytes(bytes), dtype(dtype) {}

    template <typename T>
    explicit Elements(std::span<T> values)
        : bytes(std::as_writable_bytes(values)), dtype(dtype_of<T>()) {}

    /// REQUIRES: `tensor` is contiguous and outlives this object.
    explicit Elements(const Tensor& tensor)
        : bytes(tensor.raw_data(), tensor.bytes()), dtype(tensor.dtype()) {}

    /// Returns the number of elements.
    size_t size() const { return bytes.size() / item_size(dtype); }

    /// Returns `count` elements, starting at index `begin`.
    Elements slice(size_t begin, size_t count) const {
        const size_t each = item_size(dtype);
        return {bytes.subspan(begin * each, count * each), dtype};
    }

    /// Returns part k of `parts` nearly equal parts. Their sizes differ by at most one
    /// element; some are empty if there are more parts than elements.
    Elements part(size_t k, size_t parts) const {
        const size_t begin = part_begin(size(), k, parts);
        return slice(begin, part_begin(size(), k + 1, parts) - begin);
    }
};

/// Copies the first to.size() elements of `from` to `to`, which may overlap with `from`.
/// REQUIRES: one dtype; `from` has at least to.size() elements.
inline void copy(Elements to, Elements from) {
    if (!to.bytes.empty())
        std::memmove(to.bytes.data(), from.bytes.data(), to.bytes.size());
}

}  // namespace mini::dist
