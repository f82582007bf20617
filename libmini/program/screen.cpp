#include "libmini/program/screen.hpp"

#include <sys/ioctl.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "libmini/core/terminal.hpp"

namespace mini {
namespace {

constexpr int kMinWidth = 40;
constexpr int kMaxWidth = 400;

bool is_set(const char* name) {
    const char* value = std::getenv(name);
    return value && *value;
}

}  // namespace

Screen stdout_screen() {
    Screen screen;
    winsize size{};
    if (::isatty(STDOUT_FILENO)) {
        screen.colour = has_colours(STDOUT_FILENO);
        if (::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0)
            screen.width = size.ws_col;
    } else if (is_set("COLUMNS")) {
        screen.width = std::atoi(std::getenv("COLUMNS"));
    }
    screen.width = std::clamp(screen.width, kMinWidth, kMaxWidth);
    return screen;
}

}  // namespace mini
