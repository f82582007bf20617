// Finds bugs in kernels and in their callers: see Mistake in report.hpp, and the table in
// docs/pages/cuda_simulator.md, also of what is not found.
//
//     sim::Checker checker;
//     ... copies, kernels ...
//     for (const sim::Report& report : checker.reports()) ...
//
// With MINI_SIM_CHECK=1 a whole program is checked: at its exit, it prints the reports to
// stderr, and if one is not a note, the exit code is 1. A checked kernel is about 100 times
// slower. Blocks run one after another, in the order of MINI_SIM_BLOCK_SEED.
//
// Kernels must be compiled with instrumentation (MiniCuda.cmake); in preset tsan they are
// not, so no bugs are found.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "libmini/extras/cudasim/access_log.hpp"
#include "libmini/extras/cudasim/report.hpp"

namespace mini::sim {

/// Checks every launch during the object's lifetime. REQUIRES: no other Checker or
/// Counting exists.
class Checker {
  public:
    /// Blocks until all devices are idle, as do the destructor and reports(). Memory that
    /// was allocated earlier counts as initialised.
    Checker();
    ~Checker();
    Checker(const Checker&) = delete;
    Checker& operator=(const Checker&) = delete;

    /// Returns the reports since the last call, one for each kind of mistake and source
    /// line.
    std::vector<Report> reports();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Counts the memory traffic of every launch during the object's lifetime. REQUIRES: no
/// other Counting or Checker exists.
class Counting {
  public:
    /// Blocks until all devices are idle, as does the destructor.
    Counting();
    ~Counting();
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

    /// Blocks until all devices are idle; returns the log, with one entry for each
    /// launch.
    const AccessLog& log();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace mini::sim
