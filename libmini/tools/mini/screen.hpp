// What stdout is: a terminal of some width that shows colours, or a pipe or file.

#pragma once

namespace mini::tools {

struct Screen {
    bool colour = false;
    int width = 80;
};

/// Colours only on a terminal, and not when NO_COLOR is set (no-color.org); the width
/// from the terminal, else from COLUMNS, else 80.
Screen stdout_screen();

}  // namespace mini::tools
