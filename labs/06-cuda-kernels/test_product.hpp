// Products by a kernel of matmul.cu, for the checks of lab 06.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "labs/06-cuda-kernels/kernels.hpp"
#include "labs/06-cuda-kernels/test_support.hpp"

namespace mini::labs {

struct Extents {
    int64_t M, N, K;
};

struct MatmulOptions {
    bool transpose_a = false, transpose_b = false;  // stored transposed
    bool accumulate = false;                        // add to out
};

/// Returns a matrix of the product; `transposed`: it is stored so.
inline Matrix matrix(const float* data, int64_t rows, int64_t cols, bool transposed) {
    if (transposed && rows > 1) return {data, rows, cols, 1, rows};
    return {data, rows, cols, cols, 1};  // a single row has the same layout transposed
}

/// Returns a b, or before + a b, in the order of k. The numbers are small integers, so
/// that every order gives the same bits.
inline Values product_of(const Values& a, const Values& b, const Values& before,
                         Extents sizes, MatmulOptions options) {
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

using Multiply = void (*)(const Product&);

/// Multiplies by one function of matmul.cu, checks the product, and requires that the
/// simulator reported nothing. Returns the counts.
inline Seen product(const char* name, Multiply multiply, Extents sizes,
                    MatmulOptions options = {}) {
    const int64_t M = sizes.M, N = sizes.N, K = sizes.K;
    const Values a = kernels::small_integers(M * K, 1);
    const Values b = kernels::small_integers(K * N, 2);
    const Values before = kernels::small_integers(M * N, 3);
    const OnDevice on_a(a), on_b(b), out(before);
    Values got;
    const Seen seen = watch([&] {
        out.write(before);
        multiply({.out = out,
                  .a = matrix(on_a, M, K, options.transpose_a),
                  .b = matrix(on_b, K, N, options.transpose_b),
                  .accumulate = options.accumulate});
        got = out.read();
    });
    INFO(concat(name, ": a (", M, ", ", K, ")",
                options.transpose_a ? " stored transposed" : "", " times b (", K, ", ", N,
                ")", options.transpose_b ? " stored transposed" : "",
                options.accumulate ? ", added to out" : ""));
    check_no_mistake(seen);
    const std::string verdict = compared(got, product_of(a, b, before, sizes, options));
    REQUIRE(verdict == "all elements are right");
    return seen;
}

}  // namespace mini::labs
