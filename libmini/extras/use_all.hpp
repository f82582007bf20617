#pragma once

namespace mini::extras {

/// Attaches all extras of this build to the core: faster kernels and all-reduce, backends
/// gloo, mpi and nccl, ranks of mpirun and srun, file://, the flight recorder, run records.
/// Call it once, in main, before the first computation and the first group. Without this
/// call the core does everything itself. minirun attaches only the flight recorder.
///
/// CMake writes the definition, build/release/libmini/extras/mini_extras.cpp: one call for
/// each extra that the build has, such as fast::use() of extras/fast/fast.cpp.
void use_all();

}  // namespace mini::extras
