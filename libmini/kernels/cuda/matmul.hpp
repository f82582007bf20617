// The ladder of matrix products: one contract, eight ways to keep it, each faster on a
// GPU than the one below for a reason that its file tells.
//
//     rung        file                 a thread computes       what it is about
//     naive       matmul_naive.cu      1 element               one thread, one element
//     coalesced   matmul_naive.cu      1 element               neighbours read neighbours
//     tiled       matmul_tiled.cu      1 element               shared memory
//     registers   matmul_registers.cu  4 x 4                   sums stay in registers
//     pipelined   matmul_pipelined.cu  8 x 8                   copies run while it computes
//     tf32, bf16  matmul_tensor.cu     a warp: 32 x 64         tensor cores, rounded inputs
//     cublas      matmul_cublas.cpp                            NVIDIA's library
//
// matmul() of kernels.hpp takes the rung chosen here.

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
    kPipelined,
    kTf32,  // a and b rounded to 10 bits of mantissa, sums in float32
    kBf16,  // a and b rounded to 7 bits of mantissa, sums in float32
    kCublas,
};

/// "naive", "coalesced", ... as in the table above.
const char* name(MatmulRung rung);

/// The rung of a name. Throws UsageError listing the names of this build.
MatmulRung matmul_rung_named(const std::string& name);

/// The rungs of this build, from the bottom: all on a GPU, all but cublas on the
/// simulator.
std::span<const MatmulRung> matmul_rungs();

/// Whether a device can run a rung: tf32 and bf16 need the tensor cores that came with
/// compute capability 8.0.
bool runs_on(MatmulRung rung, int device);

/// The rung that matmul() takes, in all threads. At first that of the environment's
/// MINI_MATMUL, or else cublas on a GPU, and on the simulator what runs fastest there.
/// Both throw UsageError for a rung that this build is without.
MatmulRung matmul_rung();
void set_matmul_rung(MatmulRung rung);

/// Whether cuBLAS may round a and b to tf32 (`torch.backends.cuda.matmul.allow_tf32`);
/// not at first. Our own rungs do what their names say.
bool allow_tf32();
void set_allow_tf32(bool allowed);

/// matmul() of kernels.hpp on a rung. A product has the same bits each time: each element
/// is summed by one thread or warp, in the order of k. Throws CudaError where the rung does
/// not run on the device.
void matmul_on(MatmulRung rung,
               float* out,      // (M, N)
               const float* a,  // (M, K), or (K, M) when transposed
               const float* b,  // (K, N), or (N, K) when transposed
               int64_t M, int64_t N, int64_t K, MatmulOptions options,
               cudaStream_t stream);

}  // namespace mini::kernels::cuda
