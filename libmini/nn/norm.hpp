// Batch normalisation (`torch.nn.BatchNorm1d`, `BatchNorm2d`), and layer normalisation
// (`torch.nn.LayerNorm`).
//
//     training    y = (x - mean of the batch) / sqrt(variance of the batch + eps)
//                 running values += momentum * (batch values - running values)
//     evaluation  y = (x - running_mean) / sqrt(running_var + eps)
//
// and then y * weight + bias, with one weight and one bias per channel. In training, each
// sample's output depends on the whole batch. So if each rank has a part of the batch,
// the ranks use other means and variances than one process with the whole batch, and the
// ranks' running values diverge unless one rank's values are broadcast.
//
// Layer normalisation takes mean and variance from one row of features, in training and in
// evaluation, so neither the batch nor other ranks have an effect on a sample.
//
// Ioffe and Szegedy 2015, "Batch normalization". Ba, Kiros and Hinton 2016, "Layer
// normalization".

#pragma once

#include <cstdint>
#include <optional>

#include "libmini/nn/module.hpp"

namespace mini::nn {

struct BatchNormOptions {
    double eps = 1e-5;
    std::optional<double> momentum = 0.1;  // std::nullopt: running values average all
                                           // batches with equal weight
    bool affine = true;                    // whether to have weight and bias
    bool track_running_stats = true;       // false: always use the batch's statistics
};

/// The common base of BatchNorm1d and BatchNorm2d.
class BatchNorm : public Module {
  public:
    Tensor weight;  // (C), initially 1; undefined without affine
    Tensor bias;    // (C), initially 0; undefined without affine

    // Undefined without track_running_stats.
    Tensor running_mean;         // (C), initially 0
    Tensor running_var;          // (C), initially 1, unbiased
    Tensor num_batches_tracked;  // int64, initially 0

  protected:
    BatchNorm(int64_t num_features, BatchNormOptions options);

    /// Normalises x. Throws ShapeError if the size of dimension 1 of x is not
    /// num_features, or if a channel has only one value in training.
    Tensor normalise(const Tensor& x);

  private:
    int64_t num_features_;
    BatchNormOptions options_;
};

/// Normalises (N, C) or (N, C, L) per channel. Throws ShapeError for other shapes.
class BatchNorm1d : public BatchNorm {
  public:
    explicit BatchNorm1d(int64_t num_features, BatchNormOptions options = {})
        : BatchNorm(num_features, options) {}
    Tensor forward(const Tensor& x) override;
};

/// Normalises images (N, C, H, W) per channel. Throws ShapeError for other shapes.
class BatchNorm2d : public BatchNorm {
  public:
    explicit BatchNorm2d(int64_t num_features, BatchNormOptions options = {})
        : BatchNorm(num_features, options) {}
    Tensor forward(const Tensor& x) override;
};

/// Normalises each row of (..., features). Throws ShapeError for rows of another length.
class LayerNorm : public Module {
  public:
    explicit LayerNorm(int64_t features, double eps = 1e-5);
    Tensor forward(const Tensor& x) override;

    Tensor weight;  // (features), initially 1
    Tensor bias;    // (features), initially 0

  private:
    double eps_;
};

}  // namespace mini::nn
