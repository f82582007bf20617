// Commands of mini that extras offer, such as `mini flight`.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares the commands of all extras of this build. CMake generates the source: an extra
/// lists its function with mini_commands() (libmini/cmake/MiniExtras.cmake).
void add_extra_commands(Command& mini);

}  // namespace mini::tools
