#include "libmini/core/terminal.hpp"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace mini {
namespace {

std::string_view variable(const char* name) {
    const char* const value = std::getenv(name);
    return value == nullptr ? "" : value;
}

}  // namespace

bool is_terminal(int fd) { return ::isatty(fd) == 1 && variable("TERM") != "dumb"; }

bool has_colours(int fd) { return is_terminal(fd) && variable("NO_COLOR").empty(); }

}  // namespace mini
