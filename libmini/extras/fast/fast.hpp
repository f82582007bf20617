// Faster kernels for the CPU, registered over the core's (libmini/kernels/faster.hpp).

#pragma once

namespace mini::fast {

/// Registers the kernels of this folder. Call it in main, before the first computation.
void use();

}  // namespace mini::fast
