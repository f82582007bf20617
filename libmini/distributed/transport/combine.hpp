// Combine: what a receiver does with the numbers that come in, when they are not to
// replace what it has but to be added to it, or multiplied with it, ...

#pragma once

#include <cstddef>

namespace mini::dist {

struct Combine {
    /// mine[i] = mine[i] op theirs[i] for `count` elements; `theirs` may be unaligned.
    /// Null: theirs replaces mine.
    void (*apply)(std::byte* mine, const std::byte* theirs, size_t count) = nullptr;
    size_t element_bytes = 1;

    explicit operator bool() const { return apply != nullptr; }
};

}  // namespace mini::dist
