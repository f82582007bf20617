#include "libmini/kernels/cuda/matmul.hpp"

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdlib>

#include "libmini/kernels/cuda/kernels.hpp"
#include "libmini/kernels/cuda/matmul_ladder.hpp"

namespace mini::kernels::cuda {
namespace {

constexpr std::array kLadder = {
    MatmulRung::kNaive,     MatmulRung::kCoalesced, MatmulRung::kTiled,
    MatmulRung::kRegisters, MatmulRung::kCublas,
};
constexpr std::array kNames = {"naive", "coalesced", "tiled", "registers", "cublas"};

MatmulRung selected_rung() {
    const char* const requested = std::getenv("MINI_MATMUL");
    if (requested != nullptr && *requested != '\0') return matmul_rung_named(requested);
    // On the simulator 256 x 256 takes 0.10 s on this rung, and 0.71 s on the
    // tiled rung (2 busy cores of an AMD EPYC).
    return has_cublas() ? MatmulRung::kCublas : MatmulRung::kRegisters;
}

std::atomic<bool> tf32_allowed = false;

Matrix matrix(const float* data, int64_t rows, int64_t cols, bool transposed) {
    if (transposed && rows > 1) return {data, rows, cols, 1, rows};
    return {data, rows, cols, cols, 1};  // a single row has the same layout transposed
}

}  // namespace

const char* name(MatmulRung rung) { return kNames[static_cast<size_t>(rung)]; }

MatmulRung matmul_rung_named(const std::string& requested) {
    std::string names;
    for (const MatmulRung rung : matmul_rungs()) {
        if (requested == name(rung)) return rung;
        names += concat(names.empty() ? "" : ", ", name(rung));
    }
    throw UsageError(concat("matmul: \"", requested,
                            "\" is not a rung of this build; set MINI_MATMUL to one of ",
                            names));
}

std::span<const MatmulRung> matmul_rungs() {
    const std::span<const MatmulRung> all = kLadder;
    return has_cublas() ? all : all.first(all.size() - 1);
}

MatmulRung matmul_rung() {
    static const MatmulRung rung = selected_rung();
    return rung;
}

bool allow_tf32() { return tf32_allowed; }
void set_allow_tf32(bool allowed) { tf32_allowed = allowed; }

void matmul_on(MatmulRung rung, float* out, const float* a, const float* b, int64_t M,
               int64_t N, int64_t K, MatmulOptions options, cudaStream_t stream) {
    if (M == 0 || N == 0) return;
    if (K == 0) {
        if (!options.accumulate)
            mini::cuda::set_bytes(out, 0, static_cast<size_t>(M * N) * sizeof(float),
                                  stream);
        return;
    }

    const Product product = {.out = out,
                             .a = matrix(a, M, K, options.transpose_a),
                             .b = matrix(b, K, N, options.transpose_b),
                             .accumulate = options.accumulate};
    switch (rung) {
        case MatmulRung::kNaive: return matmul_naive(product, stream);
        case MatmulRung::kCoalesced: return matmul_coalesced(product, stream);
        case MatmulRung::kTiled: return matmul_tiled(product, stream);
        case MatmulRung::kRegisters: return matmul_registers(product, stream);
        case MatmulRung::kCublas: return matmul_cublas(product, allow_tf32(), stream);
    }
}

void matmul(float* out, const float* a, const float* b, int64_t M, int64_t N, int64_t K,
            MatmulOptions options, cudaStream_t stream) {
    matmul_on(matmul_rung(), out, a, b, M, N, K, options, stream);
}

}  // namespace mini::kernels::cuda
