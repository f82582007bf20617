#include <nvtx3/nvToolsExt.h>

#include <cstdint>
#include <memory>

#include "libmini/kernels/cuda/profiler.hpp"

namespace mini::cuda {
namespace {

class Nvtx : public Profiler {
  public:
    void push(const char* name) override { nvtxRangePushA(name); }
    void pop() override { nvtxRangePop(); }
    uint64_t start(const char* name) override { return nvtxRangeStartA(name); }
    void end(uint64_t range) override { nvtxRangeEnd(range); }
    void mark(const char* name) override { nvtxMarkA(name); }
};

}  // namespace

std::unique_ptr<Profiler> nvtx() { return std::make_unique<Nvtx>(); }

}  // namespace mini::cuda
