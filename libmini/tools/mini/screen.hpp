// The width of stdout, and whether it shows colours: a terminal, or a pipe or file.

#pragma once

namespace mini::tools {

struct Screen {
    bool colour = false;
    int width = 80;
};

/// Enables colours only on a terminal, and not if NO_COLOR is set (no-color.org). The
/// width is the terminal's, else COLUMNS, else 80, limited to 40 ... 400.
Screen stdout_screen();

}  // namespace mini::tools
