#include <nvtx3/nvToolsExt.h>

#include "libmini/kernels/cuda/range.hpp"

namespace mini::cuda {

Range::Range(const char* name) { nvtxRangePushA(name); }
Range::~Range() { nvtxRangePop(); }

}  // namespace mini::cuda
