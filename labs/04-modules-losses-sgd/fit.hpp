// A network of two linear layers for the digits, and the loop that trains it.

#pragma once

#include <cstdint>

#include "libmini/data/loader.hpp"
#include "libmini/nn/dropout.hpp"
#include "libmini/nn/linear.hpp"
#include "libmini/nn/module.hpp"
#include "libmini/optim/optimizer.hpp"

namespace fit {

/// Two linear layers with a ReLU and dropout between them.
///
///     (N, ...) flattened to (N, inputs)   fc1 -> (N, hidden), relu, dropout
///                                         fc2 -> (N, classes), the class scores
class TwoLayers : public mini::nn::Module {
  public:
    /// Registers the modules fc1, drop and fc2, in this order. `p` is the probability of
    /// the dropout.
    TwoLayers(int64_t inputs, int64_t hidden, int64_t classes, double p = 0.5);
    mini::Tensor forward(const mini::Tensor& x) override;

  private:
    mini::nn::Linear fc1_, fc2_;
    mini::nn::Dropout drop_;
};

/// Trains one epoch: one step for each batch, by the gradient of this batch's
/// cross_entropy alone. Returns the mean loss over all samples; each batch's loss is
/// computed before its step. The last batch may be smaller than the others. Sets the
/// training mode first. REQUIRES: the dataset is not empty.
double train_epoch(mini::nn::Module& model, mini::data::DataLoader& loader,
                   mini::optim::Optimizer& optimizer);

/// Returns the share of the samples whose target has the highest score, in [0, 1].
/// Evaluates in evaluation mode, and sets the mode that the model had before. REQUIRES:
/// the dataset is not empty.
double accuracy(mini::nn::Module& model, mini::data::DataLoader& loader);

}  // namespace fit
