// Kernels of atomicCAS and atomicExch.

#pragma once

namespace mini::patterns {

/// Adds i to *total in each thread i of all blocks, by compare-and-swap.
template <typename T>
void add_by_swap(T* total, int blocks, int threads);

/// Exchanges *last for i in each thread i of all blocks, and writes what it found to
/// found[i].
template <typename T>
void exchange_all(T* found, T* last, int blocks, int threads);

}  // namespace mini::patterns
