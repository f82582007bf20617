// Combine: the operation (add, multiply, ...) with which a receiver combines incoming
// numbers with its own numbers, instead of overwriting its own numbers.

#pragma once

#include <cstddef>

namespace mini::dist {

struct Combine {
    /// Sets mine[i] = mine[i] op theirs[i] for `count` elements; `theirs` may be
    /// unaligned. Null: the receiver overwrites its numbers with the incoming numbers.
    void (*apply)(std::byte* mine, const std::byte* theirs, size_t count) = nullptr;
    size_t element_bytes = 1;

    explicit operator bool() const { return apply != nullptr; }
};

}  // namespace mini::dist
