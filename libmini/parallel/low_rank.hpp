// LowRank: the gradients of one bucket as matrices M, each with two thin factors P and Q.
//
//     gradients     weight (20, 50)   bias (20)   weight (10, 20)      r = 1
//     all_P       [ P (20, 1)                   | P (10, 1) ]
//     all_Q       [ Q (50, 1)                   | Q (20, 1) ]
//     all_whole   [                 copy (20) ]
//
// One all-reduce of a flat tensor sends the factors of all matrices.

#pragma once

#include <cstdint>
#include <vector>

#include "libmini/parallel/comm_hooks.hpp"
#include "libmini/random/random.hpp"

namespace mini::parallel {

/// What PowerSGD keeps of one bucket.
struct LowRank {
    /// A gradient as a matrix, and its factors.
    struct Factored {
        Tensor M;  // (n, m), a view of the bucket; dimension 0 has n rows, the others m
        Tensor P;  // (n, r), a view of all_P
        Tensor Q;  // (m, r), a view of all_Q
    };
    /// A gradient that is sent as it is.
    struct Whole {
        Tensor gradient;  // a view of the bucket
        Tensor copy;      // of the same shape, a view of all_whole
    };
    std::vector<Factored> matrices;
    std::vector<Whole> whole;  // all other gradients
    Tensor all_P, all_Q, all_whole;
};

/// Returns a bucket's gradients: matrices if n m > min_rate * r (n + m), the other ones
/// whole. P, Q and the copies are zero.
LowRank low_rank_of(const GradBucket& bucket, int64_t r, double min_rate);

/// Fills each column of Q (m, r) that is zero with normally distributed numbers.
void draw_zero_columns(Tensor& Q, Generator& generator);

}  // namespace mini::parallel
