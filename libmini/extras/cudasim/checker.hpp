// Finds bugs in kernels and in their callers: see Mistake in report.hpp, and the table in
// docs/pages/cuda_simulator.md, also of what is not found.
//
//     sim::Checker checker;
//     ... copies, kernels ...
//     for (const sim::Report& report : checker.reports()) ...
//
// With MINI_SIM_CHECK=1 a whole program is checked: when it ends, it prints the reports to
// stderr, and if one is not a note, the exit code is 1. With MINI_SIM_COUNT=1 it prints what
// its kernels would ask of a GPU's memory (access_log.hpp). Kernels must be compiled with
// instrumentation (MiniCuda.cmake); in preset tsan they are not, so no bugs are found.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/report.hpp"

namespace mini::sim {

struct Inspector;

/// Checks or counts every launch during the object's lifetime. REQUIRES: no other Observation
/// exists.
class Observation {
  public:
    /// Blocks until all devices are idle, as does the destructor.
    explicit Observation(bool checks);
    ~Observation();

    /// Blocks until all devices are idle; returns the reports since the last call, one for
    /// each kind of mistake and source line.
    std::vector<Report> reports();

    /// Blocks until all devices are idle; returns the log, with one entry for each launch.
    const AccessLog& log();

  private:
    std::unique_ptr<Inspector> inspector_;
};

/// Checks accesses. Memory that was allocated earlier counts as initialised.
struct Checker : Observation {
    Checker() : Observation(true) {}
};
/// Counts the memory traffic.
struct Counting : Observation {
    Counting() : Observation(false) {}
};

}  // namespace mini::sim
