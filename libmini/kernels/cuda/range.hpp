// Named stretches of time for a profiler (Nsight Systems shows them over the kernels).

#pragma once

namespace mini::cuda {

/// From here to the end of the scope, on this thread (`torch.cuda.nvtx.range`). Costs nothing
/// to speak of while no profiler watches; does nothing on the simulator.
class Range {
  public:
    explicit Range(const char* name);
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

}  // namespace mini::cuda
