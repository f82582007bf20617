// Whether a program may redraw a line, and use colours.

#pragma once

namespace mini {

/// Returns whether `fd` is a terminal that supports control characters: its TERM is not
/// "dumb".
bool is_terminal(int fd);

/// Returns whether output to `fd` has colours: `fd` is such a terminal, and NO_COLOR is
/// unset or empty (no-color.org).
bool has_colours(int fd);

}  // namespace mini
