// Finds mistakes of kernels and of their use: see Mistake in report.hpp.
//
//     sim::Checker checker;
//     ... copies, kernels ...
//     for (const sim::Report& report : checker.reports()) ...
//
// With MINI_SIM_CHECK=1 a whole program is checked; reports go to stderr when it ends, and
// its exit code is 1 if there were any. A checked kernel is some hundred times slower.
//
// Not seen: mistakes in code that did not run, races that a barrier of this run happened to
// hide, and what host code does with its own memory. Kernels must be compiled with the
// instrumentation (MiniCuda.cmake); in preset tsan they are not, and nothing is found.

#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "libmini/cudasim/access_log.hpp"
#include "libmini/cudasim/report.hpp"

namespace mini::sim {

/// Checks all that is launched while it lives. One at a time.
class Checker {
  public:
    /// Waits for all devices, as do the destructor and reports(). Memory that was allocated
    /// before counts as written.
    Checker();
    ~Checker();
    Checker(const Checker&) = delete;
    Checker& operator=(const Checker&) = delete;

    /// What was found since the last call: one report for each kind of mistake and line.
    std::vector<Report> reports();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

/// Counts what all launches do while it lives. One at a time, and no Checker beside it.
class Counting {
  public:
    /// Keeps the first `accesses` loads and stores one by one.
    explicit Counting(size_t accesses = 0);
    ~Counting();
    Counting(const Counting&) = delete;
    Counting& operator=(const Counting&) = delete;

    /// Waits for all devices; one entry for each launch.
    const AccessLog& log();

  private:
    struct State;
    std::unique_ptr<State> state_;
};

}  // namespace mini::sim
