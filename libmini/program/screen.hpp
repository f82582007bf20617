// The width of stdout, and whether to print colours: for a terminal, a pipe or a file.

#pragma once

namespace mini {

/// The properties of stdout that tables depend on.
struct Screen {
    bool colour = false;
    int width = 80;
};

/// Returns the properties of stdout. Colours are enabled only on a terminal, and not if
/// NO_COLOR is set (no-color.org). The width is the terminal's width, or COLUMNS if
/// stdout is not a terminal; 80 if it is unknown; limited to 40 ... 400.
Screen stdout_screen();

}  // namespace mini
