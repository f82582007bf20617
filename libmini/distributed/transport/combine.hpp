// Combine: how a receiver combines incoming numbers with its own instead of overwriting
// them: it adds, multiplies, ...

#pragma once

#include <cstddef>

namespace mini::dist {

struct Combine {
    /// mine[i] = mine[i] op theirs[i] for `count` elements; `theirs` may be unaligned.
    /// Null: overwrite mine with theirs.
    void (*apply)(std::byte* mine, const std::byte* theirs, size_t count) = nullptr;
    size_t element_bytes = 1;

    explicit operator bool() const { return apply != nullptr; }
};

}  // namespace mini::dist
