// Products by a rung of the ladder, for the checks of lab 06.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "labs/06-cuda-kernels/test_support.hpp"
#include "libmini/kernels/cuda/matmul.hpp"

namespace mini::labs {

struct Extents {
    int64_t M, N, K;
};

/// Returns a b, or before + a b, in the order of k. The numbers are small integers, so
/// that every order gives the same bits.
inline Values product_of(const Values& a, const Values& b, const Values& before,
                         Extents sizes, kernels::MatmulOptions options) {
    const auto [M, N, K] = sizes;
    Values out = options.accumulate ? before : Values(before.size(), 0.0f);
    for (int64_t i = 0; i < M; ++i)
        for (int64_t j = 0; j < N; ++j)
            for (int64_t k = 0; k < K; ++k)
                out[static_cast<size_t>(i * N + j)] +=
                    a[static_cast<size_t>(options.transpose_a ? k * M + i : i * K + k)] *
                    b[static_cast<size_t>(options.transpose_b ? j * K + k : k * N + j)];
    return out;
}

/// Runs one matmul variant, checks the product, and requires that the simulator reported
/// nothing. Returns the counts.
inline Seen product(kernels::cuda::MatmulRung rung, Extents sizes,
                    kernels::MatmulOptions options = {}) {
    const int64_t M = sizes.M, N = sizes.N, K = sizes.K;
    const Values a = kernels::small_integers(M * K, 1);
    const Values b = kernels::small_integers(K * N, 2);
    const Values before = kernels::small_integers(M * N, 3);
    const OnDevice on_a(a), on_b(b), out(before);
    Values got;
    const Seen seen = watch([&] {
        out.write(before);
        kernels::cuda::matmul_on(rung, out, on_a, on_b, M, N, K, options, nullptr);
        got = out.read();
    });
    INFO(concat("a (", M, ", ", K, ")", options.transpose_a ? " stored transposed" : "",
                " times b (", K, ", ", N, ")",
                options.transpose_b ? " stored transposed" : "",
                options.accumulate ? ", added to out" : "", ", rung ",
                kernels::cuda::name(rung)));
    check_no_mistake(seen);
    const std::string verdict = compared(got, product_of(a, b, before, sizes, options));
    REQUIRE(verdict == "all elements are right");
    return seen;
}

/// Runs one matmul variant, checks the product, and requires that the simulator reported
/// nothing.
inline void check_product(kernels::cuda::MatmulRung rung, Extents sizes,
                          kernels::MatmulOptions options = {}) {
    product(rung, sizes, options);
}

}  // namespace mini::labs
