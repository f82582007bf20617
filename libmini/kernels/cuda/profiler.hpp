// Ranges and marks for a profiler: Nsight Systems shows them above the kernels.

#pragma once

#include <cstdint>
#include <memory>

namespace mini::cuda {

/// A profiler that is told what the program does (`torch.cuda.nvtx`). The cost of a call
/// is negligible while no profiler is attached. Thread-safe; copies the names.
class Profiler {
  public:
    virtual ~Profiler() = default;

    /// Begins a range of this thread, inside of the thread's open ranges (`range_push`).
    virtual void push(const char* name) = 0;

    /// Ends the range of this thread that began last (`range_pop`).
    virtual void pop() = 0;

    /// Begins a range that may overlap others, and returns its number (`range_start`).
    virtual uint64_t start(const char* name) = 0;

    /// Ends the range with this number, on any thread (`range_end`).
    virtual void end(uint64_t range) = 0;

    /// Marks this moment (`mark`).
    virtual void mark(const char* name) = 0;
};

/// Returns NVTX, NVIDIA's interface to profilers; null in a build without nvcc.
std::unique_ptr<Profiler> nvtx();

}  // namespace mini::cuda
