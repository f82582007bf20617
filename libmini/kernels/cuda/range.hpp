// Named time ranges for a profiler (Nsight Systems shows them above the kernels).

#pragma once

namespace mini::cuda {

/// A time range of this thread, until the end of the scope (`torch.cuda.nvtx.range`). The
/// cost of a range is negligible while no profiler is attached. Does nothing on the
/// simulator.
class Range {
  public:
    explicit Range(const char* name);
    ~Range();
    Range(const Range&) = delete;
    Range& operator=(const Range&) = delete;
};

}  // namespace mini::cuda
