// What matmul() of kernels.hpp may round.

#pragma once

#include <atomic>

namespace mini::kernels::cuda {

/// Whether cuBLAS may round a and b to tf32 (`torch.backends.cuda.matmul.allow_tf32`). Has
/// no effect in builds without cuBLAS.
inline std::atomic<bool> allow_tf32 = false;

}  // namespace mini::kernels::cuda
