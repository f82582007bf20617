// The limits of this machine: its floating-point peak and the speed of a copy.
//
// A layer that computes F operations and moves B bytes takes at least
//
//     floor = max(F / peak, time of copying B / 2 bytes)
//
// because a copy of B / 2 bytes reads and writes B bytes (the roofline: Williams,
// Waterman, Patterson 2009).

#pragma once

#include <cstdint>

namespace mini {

/// Returns the operations per second of independent fused multiply-adds of float32 in
/// registers, on `threads` threads together; one multiply-add is two operations. Blocks
/// for about `seconds`.
double peak_flops(int threads, double seconds);

/// Returns the seconds in which one thread copies `bytes` bytes, which are in the caches
/// if they fit. Blocks for about `seconds`.
double copy_seconds(int64_t bytes, double seconds);

}  // namespace mini
