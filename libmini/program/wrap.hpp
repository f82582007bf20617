// Text in 80 columns.

#pragma once

#include <cstddef>
#include <string>

namespace mini {

/// Breaks the lines of `text` that are longer than `columns` at spaces, or, within a word
/// like "ring|tree|naive", after a bar. The rest of a line begins below the last column
/// of a table, which two spaces separate from the text before it, or else at the line's
/// own indentation. A longer word without bars stays whole.
///
///     "  --lr X      the learning rate"     in 24 columns
///     "  --lr X      the"
///     "              learning"
///     "              rate"
std::string wrapped(const std::string& text, size_t columns = 80);

}  // namespace mini
