// Error feedback: what a hook does not send in one step is added to the next gradient.
//
//     step                      1      2      3      4
//     gradient                0.3    0.3    0.3    0.3
//     + error of last step    0.3    0.6   -0.1    0.2     (a hook that sends integers)
//     sent                      0      1      0      0
//     error                   0.3   -0.4   -0.1    0.2
//
// Without error feedback this hook would always send 0. With it, what was sent up to any
// step differs from the sum of the gradients only by the last error.
//
// Seide, Fu, Droppo, Li, Yu 2014, 1-Bit Stochastic Gradient Descent and its Application
// to Data-Parallel Distributed Training of Speech DNNs.

#pragma once

#include "libmini/parallel/comm_hooks.hpp"

namespace mini::parallel {

/// Returns `hook` with error feedback. In each step it adds the last error of this rank
/// to the bucket's buffer, and calls `hook` with a bucket whose `sent` is a copy of this
/// sum. When `hook` has finished, the new error is the sum minus `sent`, which `hook` may
/// have changed. The first error is zero, also after DDP has rebuilt its buckets. The
/// errors are kept in memory of the size of all buckets.
CommHook error_feedback_hook(CommHook hook);

}  // namespace mini::parallel
