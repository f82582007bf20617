// What lab 20's program reads: the reports of training on one rank, and of all-reduces.

#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "labs/20-scaling-by-simulation/link_fit.hpp"
#include "labs/20-scaling-by-simulation/prediction.hpp"

namespace mini::lab20 {

/// Reads reports of `train_mnist --sync ddp --json` on one rank, one or several, and
/// returns their means. Throws BadFile.
Computation read_computation(const std::vector<std::string>& paths);

struct FittedLink {
    LinkFit fit;
    double largest_error = 0;  // relative
};

/// Fits alpha and beta to the output of `mini bench allreduce --format json`: each row as
/// the messages and bytes that its algorithm sends one after the other. Throws BadFile.
FittedLink fit_bench(const std::string& path);

/// Returns the time of an all-reduce by libmini's own choice of algorithm, on P ranks
/// with equal links.
double all_reduce_seconds(const LinkFit& fit, int P, int64_t bytes);

}  // namespace mini::lab20
