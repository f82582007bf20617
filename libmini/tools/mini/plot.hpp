// `mini plot`: draws a chart from its description in JSON.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::tools {

/// Declares `mini plot`.
void add_plot(Command& mini);

}  // namespace mini::tools
