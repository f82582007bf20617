// mini cuda: compiles plain .cu files for the simulator, and runs them.

#pragma once

#include "libmini/program/command_line.hpp"

namespace mini::sim {

/// Declares `cuda` in `mini`: the process becomes mini_cuda.py, whose help says what it does.
void add_cuda(Command& mini);

}  // namespace mini::sim
