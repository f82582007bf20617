// The standard files of a program: whether it may redraw a line and use colours, and
// whether its output can be written.

#pragma once

namespace mini {

/// Returns whether `fd` is a terminal that supports control characters: its TERM is not
/// "dumb".
bool is_terminal(int fd);

/// Returns whether output to `fd` has colours: `fd` is such a terminal, and NO_COLOR is
/// unset or empty (no-color.org).
bool has_colours(int fd);

/// Opens standard files that the caller has closed (`>&-`), so that no other file or
/// socket gets the number of stdin, stdout or stderr, and with it what is printed.
void open_standard_files();

/// Writes what is left of stdout. Throws Error if a part of stdout could not be written,
/// as on a full disk.
void finish_stdout();

}  // namespace mini
