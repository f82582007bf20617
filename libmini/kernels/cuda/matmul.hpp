// The ladder of matrix products: five implementations (rungs) of one contract. Each
// rung removes a limit of the rung before it, which its file explains, and is faster on
// large matrices; on small ones a rung with large tiles has too few blocks to fill a GPU.
//
//     rung        file                 a thread computes  idea
//     naive       matmul_naive.cu      1 element          one thread, one element
//     coalesced   matmul_naive.cu      1 element          a warp reads adjacent floats
//     tiled       matmul_tiled.cu      1 element          shared memory
//     registers   matmul_registers.cu  4 x 4              sums stay in registers
//     cublas      matmul_cublas.cpp                       NVIDIA's library
//
// matmul() of kernels.hpp uses the rung that MINI_MATMUL selects.

#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "libmini/kernels/cuda/runtime.hpp"
#include "libmini/kernels/kernels.hpp"

namespace mini::kernels::cuda {

enum class MatmulRung {
    kNaive,
    kCoalesced,
    kTiled,
    kRegisters,
    kCublas,
};

/// Returns the rung's name as in the table above: "naive", "coalesced", ...
const char* name(MatmulRung rung);

/// Returns the rung with a name. Throws UsageError listing the names of this build.
MatmulRung matmul_rung_named(const std::string& name);

/// Returns the rungs of this build, lowest first: all with nvcc, all but cublas on the
/// simulator.
std::span<const MatmulRung> matmul_rungs();

/// Returns the rung that matmul() uses: the environment variable MINI_MATMUL. If it is not
/// set, cublas with nvcc; on the simulator registers, the simulator's fastest rung. Throws
/// UsageError if MINI_MATMUL names a rung that this build does not have.
MatmulRung matmul_rung();

/// Returns whether cuBLAS may round a and b to tf32
/// (`torch.backends.cuda.matmul.allow_tf32`); false by default. Has no effect on our own
/// rungs.
bool allow_tf32();

/// Sets whether cuBLAS may round a and b to tf32.
void set_allow_tf32(bool allowed);

/// Computes matmul() of kernels.hpp by a given rung. Throws UsageError if this build does
/// not have it. Our own rungs sum each element by one
/// thread, in the order of k, so repeated products are bitwise identical. cublas may split
/// the sum over k: one version of it gives the same bits again only on GPUs of one kind.
void matmul_on(MatmulRung rung,
               float* out,      // (M, N)
               const float* a,  // (M, K), or (K, M) when transposed
               const float* b,  // (K, N), or (N, K) when transposed
               int64_t M, int64_t N, int64_t K, MatmulOptions options,
               cudaStream_t stream);

}  // namespace mini::kernels::cuda
