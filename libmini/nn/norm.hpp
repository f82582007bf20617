// Batch normalisation (`torch.nn.BatchNorm1d`, `BatchNorm2d`).
//
//     training    y = (x - mean of the batch) / sqrt(variance of the batch + eps)
//                 running values move towards mean and variance by the momentum
//     evaluation  y = (x - running_mean) / sqrt(running_var + eps)
//
// and then y * weight + bias, one number a channel each. In training every sample's
// result depends on the whole batch, so ranks with a share of the batch each normalise by
// other moments than one process with all of it, and their running values drift apart
// unless they are broadcast.
//
// Ioffe and Szegedy 2015, "Batch normalization".

#pragma once

#include <cstdint>
#include <optional>

#include "libmini/nn/module.hpp"

namespace mini::nn {

struct BatchNormOptions {
    double eps = 1e-5;
    std::optional<double> momentum = 0.1;  // none: the mean over all batches so far
    bool affine = true;                    // whether there are weight and bias
    bool track_running_stats = true;       // else the batch's moments serve always
};

/// What both have in common.
class BatchNorm : public Module {
  public:
    Tensor weight;               // (C), from 1; undefined without affine
    Tensor bias;                 // (C), from 0; undefined without affine
    Tensor running_mean;         // (C), from 0; these three undefined when not tracked
    Tensor running_var;          // (C), from 1, unbiased
    Tensor num_batches_tracked;  // int64, from 0

  protected:
    BatchNorm(int64_t num_features, BatchNormOptions options);

    /// Throws ShapeError unless dimension 1 of x has num_features, and, in training, when
    /// a channel has a single value.
    Tensor normalise(const Tensor& x);

  private:
    int64_t num_features_;
    BatchNormOptions options_;
};

/// Normalises rows (N, C) by column, or (N, C, L) by channel. Throws ShapeError for
/// others.
class BatchNorm1d : public BatchNorm {
  public:
    explicit BatchNorm1d(int64_t num_features, BatchNormOptions options = {})
        : BatchNorm(num_features, options) {}
    Tensor forward(const Tensor& x) override;
};

/// Normalises images (N, C, H, W) by channel. Throws ShapeError for others.
class BatchNorm2d : public BatchNorm {
  public:
    explicit BatchNorm2d(int64_t num_features, BatchNormOptions options = {})
        : BatchNorm(num_features, options) {}
    Tensor forward(const Tensor& x) override;
};

}  // namespace mini::nn
