// Faster kernels for the CPU and a faster all-reduce, registered over the core's
// (libmini/kernels/registry.hpp, libmini/distributed/transport/shared_all_reduce.hpp).

#pragma once

namespace mini::fast {

/// Registers what is in this folder. Call it in main, before the first computation.
void use();

}  // namespace mini::fast
